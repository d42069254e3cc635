/* addr2line.h - answers in the form of binutils' addr2line, byte for byte.
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

/* Where an answer is in the text. */
struct addr2line_piece {
	uint64_t at : 36;
	uint64_t len : 28;
};

/* The answer that was made last, for the addresses around it. */
struct addr2line_last {
	struct addr2line_piece all;
	struct addr2line_piece name; /* the innermost function's line */
	struct addr2line_piece callers;
	uint64_t low; /* all of it holds in [low, high) */
	uint64_t high;
	uint64_t chain; /* all but the place of the innermost; 0: of nothing */
	uint32_t discriminator;
	/* The function around all: what the symbol at its start is called. */
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
	struct buf text; /* what was made; the caller writes it */
	struct addr2line_last last;
	struct line_frame frames[ADDR2LINE_FRAMES_MAX];
	struct map by_name;
	VEC(char *) demangled;
};

/* Appends what is known of an address, and says where; `shown` is how the user wrote it.
 * Addresses that follow each other are quick. */
struct addr2line_piece addr2line_out_put(struct addr2line_out *o, uint64_t addr,
					 uint64_t shown);
/* Empties the text. */
void addr2line_out_clear(struct addr2line_out *o);
void addr2line_out_done(struct addr2line_out *o);
