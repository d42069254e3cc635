/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lists.h - the event lists in lists/, which the build embeds.
 * Layer: capture, private to events/list.c and its tests. */
#pragma once

struct event_list_row {
	const char *name; /* file name without .txt */
	const char *text;
};

extern const struct event_list_row event_list_rows[]; /* ends with a NULL name */
