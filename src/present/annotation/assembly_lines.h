/* assembly_lines.h - source lines between the instructions that they became, as objdump -S puts
 * them.
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
	bool sites; /* what was inlined where is said */
	/* Of the instruction before. */
	uint32_t line;
	const char *file;
	uint64_t chain; /* hash of the calls that were inlined */
	struct line_frame frames[ASSEMBLY_FRAMES_MAX];
};

void assembly_lines_init(struct assembly_lines *l, const struct annotation *a,
			 const struct assembly_source *source);
void assembly_lines_done(struct assembly_lines *l);
/* The rows at hand come next.  0 or -ENOMEM. */
int assembly_lines_begin(struct assembly_lines *l, struct code *code,
			 const struct assembly *s);
/* Writes the lines in front of the instruction at an address, if they are others than those of
 * the one before.  0 or -ENOMEM. */
int assembly_lines_put(struct assembly_lines *l, FILE *out, struct code *code,
		       uint64_t address);
