/* SPDX-License-Identifier: GPL-2.0-or-later */
/* assembly_lines.h - shows source lines between the instructions compiled from them, like
 * objdump -S.
 * Layer: present, for write_assembly.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "present/annotation/source_text.h"
#include "resolve/lines/lines.h"

struct annotation;
struct assembly;
struct assembly_source;
struct code;

enum {
	ASSEMBLY_FRAMES_MAX = 32
};

struct assembly_lines {
	const struct annotation *a;
	struct source_texts texts;
	bool sites; /* show inlined call sites */
	/* State of the previous instruction. */
	uint32_t line;
	const char *file;
	uint64_t chain; /* hash of the inlined calls */
	struct line_frame frames[ASSEMBLY_FRAMES_MAX];
};

void assembly_lines_init(struct assembly_lines *l, const struct annotation *a,
			 const struct assembly_source *source);
void assembly_lines_done(struct assembly_lines *l);
/* Prepares for the current rows of `s`.  Returns 0 or -ENOMEM. */
int assembly_lines_begin(struct assembly_lines *l, struct code *code,
			 const struct assembly *s);
/* Writes the source lines before the instruction at an address, if they differ from those of the
 * previous instruction.  Returns 0 or -ENOMEM. */
int assembly_lines_put(struct assembly_lines *l, FILE *out, struct code *code,
		       uint64_t address);
