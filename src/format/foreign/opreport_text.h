/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opreport_text.h - parses lines of `opreport -gdf`, as OProfile prints them.
 * Layer: format.
 *
 * The output has header lines ("CPU: ...", "Counted EVENT events ..."), a title line that begins
 * with "vma", and then one line per function:
 *     VMA  samples % (of each event)  FILE:LINE  [IMAGE  [APP]]  SYMBOL
 * followed by one indented line for each of its addresses:
 *     VMA  samples % ...  FILE:LINE
 * FILE:LINE can be "(no location information)". Blanks in FILE, IMAGE and APP are escaped as \x20,
 * and so is a backslash that would look like an escape (\x5c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum {
	OPREPORT_EVENTS_MAX = 64
};

enum opreport_kind {
	OPREPORT_OTHER, /* ignored */
	OPREPORT_EVENT,
	OPREPORT_TITLE,
	OPREPORT_SYMBOL,
	OPREPORT_SAMPLE
};

struct opreport_word {
	const char *at; /* points into the line */
	size_t len;
};

/* The state between lines. Zero it before the first line. */
struct opreport_reader {
	size_t nr_events;
	bool has_image;
	bool has_app;
	bool titled;
};

struct opreport_line {
	enum opreport_kind kind;
	struct opreport_word name; /* name of the event or the symbol */
	uint64_t vma;
	uint64_t counts[OPREPORT_EVENTS_MAX]; /* number of samples of each event */
	struct opreport_word file;            /* empty: unknown */
	uint64_t line;
	/* This and `app` are empty if the output has no such column. */
	struct opreport_word image;
	struct opreport_word app;
};

/* Appends FILE:LINE, IMAGE or APP, and escapes blanks and backslashes as shown above. */
void opreport_put_word(struct buf *out, const char *text, size_t len);
/* Appends FILE:LINE, IMAGE or APP of a parsed line, with its escapes undone. */
void opreport_put_plain(struct buf *out, struct opreport_word word);

/* Parses one line. `text` does not end with a newline. Returns 0, or -EBADMSG with the reason
 * in *err. */
int opreport_parse(struct opreport_reader *r, const char *text, size_t len,
		   struct opreport_line *ret_line, struct err *err);
