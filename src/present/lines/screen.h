/* screen.h - what a text report is shown on, as far as its form depends on it.
 * Layer: present.  All zero is a file or a pipe: every line in full.
 * Wherever it is shown, nothing in a name may command a terminal or begin another line. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;

struct screen {
	bool is_terminal;
	unsigned int width; /* columns that a line may take; 0: any number */
	bool utf8;          /* else ASCII is all that can be shown */
	bool colour;
};

/* Escape sequences of SGR (ECMA-48 8.3.117), as perf and git use them. */
#define SCREEN_BOLD "\033[1m"
#define SCREEN_RED "\033[31m"
#define SCREEN_GREEN "\033[32m"
#define SCREEN_PLAIN "\033[m"

/* Makes what `out` has from `from` on safe (base/safe_text.h), as files and pipes get it. */
void screen_make_safe(struct buf *out, size_t from);
/* The same of a name, to a stream.  Errors are those of `out`. */
void screen_write_name(FILE *out, const char *name);
/* Prints one line with names in it, made safe as a whole; `format` has no line end. */
void screen_print_line(FILE *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes a line of a source or of a disassembler: as a name, but tabs stay. */
void screen_write_code(FILE *out, const char *text, size_t len);
/* Writes a name with `?` for each byte that screen_write_name() would escape, for formats of other
 * tools that have no escapes. */
void screen_write_masked(FILE *out, const char *name);
/* Columns that such a text takes. */
size_t screen_columns(const char *text, size_t len);
/* The colour of a share, as perf report has it: red from 5 %, green from 0.5 %, else "" (also
 * on a screen without colour).  SCREEN_PLAIN ends it. */
const char *screen_share_colour(const struct screen *s, double percent);
