/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.h - writes samples exactly like perf script, for FlameGraph, speedscope, the Firefox
 * Profiler and perf2bolt.
 * Layer: present.  The layout is from perf-script(1) and the output of perf 6.1. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "present/export/script_fields.h"

struct script_text {
	const char *at; /* not NUL-terminated */
	size_t len;
};

/* The symbol and image of an address, which script_position() formats once for repeated use. */
struct script_position {
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* from the symbol's start */
	const char *image;  /* the image's name in perf's form; NULL: unknown */
};

/* A frame. If after.at is not NULL, `offset` is printed between `position` and `after`, which all
 * addresses in a function share. These texts are copied in blocks, so SCRIPT_PADDING bytes after
 * each must be readable. */
enum {
	SCRIPT_PADDING = 32
};
struct script_frame {
	uint64_t address; /* as printed */
	uint64_t offset;
	struct script_text position; /* from script_position() or script_halves() */
	struct script_text after;
};

struct script_branch {
	uint64_t from, to;
	/* From script_branch_position(); empty without sym and dso. */
	struct script_text from_position, to_position;
	bool predicted, mispredicted, in_tx, aborted;
	uint16_t cycles;
	const char *type; /* "COND", "" */
};

/* A sample.  All pointers are borrowed; members that the fields do not need can be unset. */
struct script_sample {
	uint32_t event; /* index of script_writer's events */
	uint16_t misc;  /* of the record's header */
	struct script_text comm;
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t period;
	bool chain; /* frames are a chain, possibly empty; false: a single frame */
	const struct script_frame *frames; /* innermost first */
	size_t nr_frames;
	struct script_frame addr;
	uint64_t weight;
	uint16_t ins_lat;
	struct script_text cgroup;
	uint64_t phys_addr, data_page_size, code_page_size;
	const struct script_branch *branches;
	size_t nr_branches;
};

struct script_writer {
	const struct script_event *events; /* borrowed, and so are the fields */
	const uint32_t *fields;            /* from script_fields() */
	size_t nr_events;
	bool chains;       /* as for script_fields() */
	bool nanoseconds;  /* times with nine decimals */
	size_t name_width; /* set by script_writer_init() */
};

void script_writer_init(struct script_writer *w);
/* Replaces a byte of a name that cannot be shown, for safe_text_mask(). */
#define SCRIPT_MASK '?'
/* Appends the text after an address of an event with these fields: " main+0x1f (/bin/a)".
 * Appends nothing if neither symbol nor image are selected. */
void script_position(uint32_t fields, const struct script_position *position,
		     struct buf *out);
/* Like script_position(), but omits the digits of the offset, which belong after the first
 * *ret_first bytes (" main+0x") and before the rest (" (/bin/a)").  Returns false if there is no
 * offset; then the text is complete. */
bool script_halves(uint32_t fields, const struct script_position *position,
		   struct buf *out, size_t *ret_first);
/* Appends the text for a branch stack: "(/bin/a)", or "main+0x1f(/bin/a)" with
 * SCRIPT_BRSTACKSYM. */
void script_branch_position(uint32_t fields, const struct script_position *position,
			    struct buf *out);
/* Appends the start of the line of a non-sample record: comm, thread, CPU and time. */
void script_write_start(const struct script_writer *w, const struct script_sample *s,
			struct buf *out);
/* Appends the sample's lines. */
void script_write(const struct script_writer *w, const struct script_sample *s,
		  struct buf *out);
