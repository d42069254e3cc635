/* addr2line_out.h - answers in the form of binutils' addr2line, byte for byte.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "resolve/lines.h"

enum {
	ADDR2LINE_FRAMES_MAX = 256
};

struct addr2line_out {
	struct lines *lines;
	bool addresses;  /* -a */
	bool functions;  /* -f */
	bool inlines;    /* -i */
	bool pretty;     /* -p */
	bool base_names; /* -s */
	bool demangle;   /* -C */
	struct buf text; /* what was made; the caller writes and empties it */
	struct line_frame frames[ADDR2LINE_FRAMES_MAX];
	struct map by_name;
	VEC(char *) demangled;
};

/* Appends what is known of an address; `shown` is how the user wrote it. */
void addr2line_out_put(struct addr2line_out *o, uint64_t addr, uint64_t shown);
void addr2line_out_done(struct addr2line_out *o);
