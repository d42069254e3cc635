/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen.h - properties of the output device that affect text reports, and safe output of names.
 * Layer: present.  An all-zero `struct screen` is a file or a pipe: lines are never shortened.
 * On every device, names are escaped so that they cannot control a terminal or start a new line. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;

struct screen {
	bool is_terminal;
	unsigned int width; /* maximum columns of a line; 0: unlimited */
	bool utf8;          /* false: only ASCII can be shown */
	bool colour;
};

/* SGR escape sequences (ECMA-48 8.3.117), the same ones that perf and git use. */
#define SCREEN_BOLD "\033[1m"
#define SCREEN_RED "\033[31m"
#define SCREEN_GREEN "\033[32m"
#define SCREEN_PLAIN "\033[m"

/* Escapes the contents of `out` from offset `from` on (see base/safe_text.h), as for files and
 * pipes. */
void screen_make_safe(struct buf *out, size_t from);
/* Writes an escaped name to a stream.  The caller checks `out` for errors. */
void screen_write_name(FILE *out, const char *name);
/* Prints one line and a line end; escapes the whole line, so it can contain names. */
void screen_print_line(FILE *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes a source or disassembly line, escaped like a name except that tabs are kept. */
void screen_write_code(FILE *out, const char *text, size_t len);
/* Writes a name with `?` for each byte that screen_write_name() would escape, for file formats
 * that have no escapes. */
void screen_write_masked(FILE *out, const char *name);
/* Returns the number of columns of an escaped text. */
size_t screen_columns(const char *text, size_t len);
/* Returns the colour of a percentage like perf report: red from 5 %, green from 0.5 %, otherwise
 * "" (also if the screen has no colour).  End the colour with SCREEN_PLAIN. */
const char *screen_share_colour(const struct screen *s, double percent);
