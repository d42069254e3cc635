/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr2line.h - formats source locations exactly like binutils' addr2line.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "resolve/lines/lines.h"

enum {
	ADDR2LINE_FRAMES_MAX = 256
};

/* A range of the output text. */
struct addr2line_piece {
	uint64_t at : 36;
	uint64_t len : 28;
};

/* The last answer, which can be reused for adjacent addresses. */
struct addr2line_last {
	struct addr2line_piece all;
	struct addr2line_piece name; /* the output line with the innermost function */
	struct addr2line_piece callers;
	uint64_t low; /* `all` is valid for addresses in [low, high) */
	uint64_t high;
	uint64_t chain; /* identifies all but the innermost location; 0: invalid */
	uint32_t discriminator;
	/* The outermost function: the name of the symbol at its start. */
	uint64_t start;
	const char *plain; /* NULL: none */
	const char *symbol;
};

struct addr2line_out {
	struct lines *lines;
	bool addresses;  /* -a */
	bool functions;  /* -f */
	bool inlines;    /* -i */
	bool pretty;     /* -p */
	bool base_names; /* -s */
	bool demangle;   /* -C */
	struct buf text; /* output; the caller writes it */
	struct addr2line_last last;
	struct line_frame frames[ADDR2LINE_FRAMES_MAX];
	struct map by_name;
	VEC(char *) demangled;
};

/* Appends the answer for an address, and returns its range in the text. `shown` is the address as
 * the user wrote it. Calls for adjacent addresses are fast, because they can reuse the last
 * answer. */
struct addr2line_piece addr2line_out_put(struct addr2line_out *o, uint64_t addr,
					 uint64_t shown);
/* Clears the text. */
void addr2line_out_clear(struct addr2line_out *o);
void addr2line_out_done(struct addr2line_out *o);
