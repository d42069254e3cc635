/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - the source and the instructions of a function, with samples.
 * Layer: view. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/strtab.h"
#include "resolve/code/insn.h"
#include "view/model_priv.h"
#include "view/params.h"

struct err;

struct view_source_line {
	char *text; /* NULL: unknown */
	uint64_t samples;
};

struct view_source_insn {
	uint64_t address;
	uint8_t bytes[INSN_BYTES_MAX];
	unsigned int len; /* number of bytes; 0: the code is unknown */
	uint32_t text;    /* string */
	uint32_t file;    /* string; 0: the function's file, or unknown */
	uint32_t line;    /* 0: unknown */
	uint64_t samples;
	uint64_t target; /* of a jump inside of the function */
	bool has_target;
};

struct view_source {
	struct strtab strings;
	uint32_t function; /* of the model */
	uint64_t samples;
	char *file;       /* as in debug information; NULL: unknown */
	uint32_t first;   /* line of lines.at[0] */
	uint32_t hottest; /* the line with the most samples */
	VEC(struct view_source_line) lines;
	VEC(struct view_source_insn) code;
	char missing
		[192];   /* why there are no lines or no code; "": nothing is missing */
	bool is_private; /* not every user can read the source or the binary */
};

/* Makes the source lines and instructions of a function, with the samples that `params` select; the
 * parameters `through` and `text` are ignored. `handed_on`: the output is for other users, so leave
 * out sources that not every user can read.
 * Returns 0, or a negative errno with a message in *err; call view_source_done() in any case. */
int view_source_make(struct view_source *s, struct view_model *m,
		     const struct view_params *params, uint32_t function,
		     bool handed_on, struct err *err);
void view_source_done(struct view_source *s);
