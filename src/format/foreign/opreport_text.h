/* opreport_text.h - takes lines of `opreport -gdf` apart (oprofile-behaviour.md 1.1.5).
 * Layer: format.
 *
 * Header lines ("CPU: ...", "Counted EVENT events ..."), a title line that begins with "vma", then
 * for each function a line
 *	VMA  samples % (of each event)  FILE:LINE  [IMAGE  [APP]]  SYMBOL
 * and below it one with blanks in front for each of its addresses
 *	VMA  samples % ...  FILE:LINE
 * FILE:LINE may be "(no location information)". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	OPREPORT_EVENTS_MAX = 64
};

enum opreport_kind {
	OPREPORT_OTHER, /* nothing of use */
	OPREPORT_EVENT,
	OPREPORT_TITLE,
	OPREPORT_SYMBOL,
	OPREPORT_SAMPLE
};

struct opreport_word {
	const char *at; /* in the line */
	size_t len;
};

/* What is known so far; zero at first. */
struct opreport_reader {
	size_t nr_events;
	bool has_image;
	bool has_app;
	bool titled;
};

struct opreport_line {
	enum opreport_kind kind;
	struct opreport_word name; /* of the event or the symbol */
	uint64_t vma;
	uint64_t counts[OPREPORT_EVENTS_MAX]; /* of each event */
	struct opreport_word file;            /* empty: unknown */
	uint64_t line;
	struct opreport_word image; /* these two empty if they have no column */
	struct opreport_word app;
};

/* `text` has no newline at its end.  0, or -EBADMSG with what is wrong with it. */
int opreport_parse(struct opreport_reader *r, const char *text, size_t len,
		   struct opreport_line *ret_line, struct err *err);
