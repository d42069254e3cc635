/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.h - the table of event sources, which provide samples.
 * Layer: capture. docs/howto/add-source.md describes how to add one. */
#pragma once
#include <stdbool.h>

struct source_row {
	const char *name;
	const char *help; /* one sentence, shown by `oprofile --version` */
	bool (*available)(void);
};

extern const struct source_row source_rows[]; /* ends with a NULL name */
