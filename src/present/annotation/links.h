/* links.h - which lines of sources and which instructions belong together, and what
 * was inlined where: what is linked in pages.
 * Layer: present.
 *
 * An instruction with samples belongs to the line that it came from.  If that line is of a
 * function that was inlined, then the line of each call on the way belongs to it, too. */
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
	LINK_INLINED_HERE  /* code of another line was inlined at this one */
};

/* From a line. */
struct line_link {
	uint32_t file; /* of the annotation */
	uint32_t line;
	enum link_kind kind;
	uint32_t function; /* LINK_INSN: of struct assembly */
	uint64_t address;
	uint32_t text; /* string: the instruction, or the function at the other line */
	uint32_t to_file; /* LINKS_NO_FILE: of none that has samples */
	uint32_t to_path; /* string */
	uint32_t to_line;
	size_t counts; /* links_counts() */
};

struct annotation_links {
	const struct annotation *a;
	struct map file_by; /* string -> file */
	VEC(struct line_link)
	all; /* once sorted by file, line and kind, the most samples first */
	VEC(uint64_t) counts;
};

/* 0 or -ENOMEM; links_done() in any case. */
int links_init(struct annotation_links *l, const struct annotation *a);
void links_done(struct annotation_links *l);
/* The file that debug information calls so, and its path as a string of the profile; or
 * LINKS_NO_FILE.  -ENOMEM as a result: memory was short. */
int links_file(struct annotation_links *l, const char *path, uint32_t *ret_file,
	       uint32_t *ret_path);
/* An instruction with samples. */
struct links_insn {
	uint32_t function; /* of struct assembly */
	uint64_t address;
	uint32_t text; /* string of the profile */
	const uint64_t *counts;
};

/* Notes it, and where it came from, innermost frame first.  0 or -ENOMEM. */
int links_add(struct annotation_links *l, const struct links_insn *insn,
	      const struct line_frame *frames, size_t nr);
/* To be called when all are there, before the next two.  Equal ones are summed up. */
int links_sort(struct annotation_links *l);
/* Those of a line: the first one, and how many. */
const struct line_link *links_of_line(const struct annotation_links *l, uint32_t file,
				      uint32_t line, size_t *ret_nr);
/* The first line with links that is `line` or behind it; 0: none. */
uint32_t links_next_line(const struct annotation_links *l, uint32_t file,
			 uint32_t line);
static inline const uint64_t *links_counts(const struct annotation_links *l,
					   const struct line_link *link)
{
	return &l->counts.at[link->counts];
}
