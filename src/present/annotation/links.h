/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links.h - maps source lines to instructions and to inlined calls, for the links in pages.
 * Layer: present.  An instruction with samples belongs to its source line.  If that line is in
 * an inlined function, the line of each call on the path also belongs to the instruction. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "present/annotation/annotation.h"
#include "resolve/lines/lines.h"

enum {
	LINKS_NO_FILE = 0xffffffff,
	LINKS_FRAMES_MAX = 32
};

enum link_kind {
	LINK_INSN,         /* the line's instruction at `address` of `function` */
	LINK_INLINED_INTO, /* the line's code was inlined at another line */
	LINK_INLINED_HERE  /* code of another line was inlined at this line */
};

/* A link from a line. */
struct line_link {
	uint32_t file; /* of the annotation */
	uint32_t line;
	enum link_kind kind;
	uint32_t function; /* LINK_INSN: of struct assembly */
	uint64_t address;
	uint32_t text; /* string: the instruction, or the function at the other line */
	uint32_t to_file; /* LINKS_NO_FILE: a file without samples */
	uint32_t to_path; /* string */
	uint32_t to_line;
	size_t counts; /* index for links_counts() */
};

struct annotation_links {
	const struct annotation *a;
	struct map file_by; /* string -> file */
	/* after links_sort(): sorted by file, line, kind, and descending samples */
	VEC(struct line_link)
	all;
	VEC(uint64_t) counts;
};

/* Prepares links without entries. Returns 0 or -ENOMEM.  Call links_done() in every case. */
int links_init(struct annotation_links *l, const struct annotation *a);
void links_done(struct annotation_links *l);
/* Finds the file with a path from debug information.  Sets *ret_file to its number or to
 * LINKS_NO_FILE, and *ret_path to the path as a string of the profile.  Returns 0 or -ENOMEM. */
int links_file(struct annotation_links *l, const char *path, uint32_t *ret_file,
	       uint32_t *ret_path);
/* An instruction with samples. */
struct links_insn {
	uint32_t function; /* of struct assembly */
	uint64_t address;
	uint32_t text; /* string of the profile */
	const uint64_t *counts;
};

/* Adds an instruction with its frames, innermost first.  Returns 0 or -ENOMEM. */
int links_add(struct annotation_links *l, const struct links_insn *insn,
	      const struct line_frame *frames, size_t nr);
/* Sorts the links and merges equal ones.  Call it after the last links_add(), and before
 * links_of_line() and links_next_line(). Returns 0 or -ENOMEM. */
int links_sort(struct annotation_links *l);
/* Returns the first link of a line, and their number. */
const struct line_link *links_of_line(const struct annotation_links *l, uint32_t file,
				      uint32_t line, size_t *ret_nr);
/* Returns the number of the first line at or after `line` that has links; 0: none. */
uint32_t links_next_line(const struct annotation_links *l, uint32_t file,
			 uint32_t line);
static inline const uint64_t *links_counts(const struct annotation_links *l,
					   const struct line_link *link)
{
	return &l->counts.at[link->counts];
}
