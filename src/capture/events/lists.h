/* lists.h - the lists of events of our own, as they are built in.
 * Layer: capture, private to events/list.c and its tests. */
#pragma once

struct event_list_row {
	const char *name; /* of the file without .txt */
	const char *text;
};

extern const struct event_list_row event_list_rows[]; /* ends with a NULL name */
