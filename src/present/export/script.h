/* script.h - samples as perf script prints them, byte for byte: what FlameGraph,
 * speedscope, the Firefox Profiler and perf2bolt read.
 * Layer: present.  Source of the layout: perf-script(1) and what perf 6.1 prints. */
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

/* Where an address lies, to be written once and used often: script_place(). */
struct script_place {
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* from the symbol's start */
	const char *image;  /* as perf names it; NULL: unknown */
};

/* `offset` stands between the halves unless behind.at is NULL: what lies in one function has
 * its halves in common.  Both are copied in pieces: SCRIPT_PADDING bytes behind each can be
 * read. */
enum {
	SCRIPT_PADDING = 32
};
struct script_frame {
	uint64_t address; /* as printed */
	uint64_t offset;
	struct script_text place; /* what script_place() made, or script_halves() */
	struct script_text behind;
};

struct script_branch {
	uint64_t from, to;
	/* What script_branch_place() made; empty without sym and dso. */
	struct script_text from_place, to_place;
	bool predicted, mispredicted, in_tx, aborted;
	uint16_t cycles;
	const char *type; /* "COND", "" */
};

/* One sample; all is borrowed, and what the fields do not ask for need not be set. */
struct script_sample {
	uint32_t event; /* index of script_writer's events */
	uint16_t misc;  /* of the record's header */
	struct script_text comm;
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t period;
	bool chain; /* frames are a chain, maybe an empty one; else there is one frame */
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
	const struct script_event *events; /* borrowed, as the fields */
	const uint32_t *fields;            /* script_fields() */
	size_t nr_events;
	bool chains;       /* as for script_fields() */
	bool nanoseconds;  /* times with nine decimals */
	size_t name_width; /* set by script_writer_init() */
};

void script_writer_init(struct script_writer *w);
/* What safe_text_mask() puts for a byte of a name that cannot be shown. */
#define SCRIPT_MASK '?'
/* Appends what stands behind an address of an event with these fields: " main+0x1f (/bin/a)";
 * nothing if neither symbol nor image are wanted. */
void script_place(uint32_t fields, const struct script_place *place, struct buf *out);
/* The same without the digits of the offset, which stand behind the bytes *ret_first ("
 * main+0x") and before the rest (" (/bin/a)").  false: it has no offset, all is the first
 * half. */
bool script_halves(uint32_t fields, const struct script_place *place, struct buf *out,
		   size_t *ret_first);
/* The same in a branch stack: "(/bin/a)", with SCRIPT_BRSTACKSYM "main+0x1f(/bin/a)". */
void script_branch_place(uint32_t fields, const struct script_place *place,
			 struct buf *out);
/* Appends what stands in front of the line of a record that is no sample: comm, thread, CPU
 * and time. */
void script_write_start(const struct script_writer *w, const struct script_sample *s,
			struct buf *out);
/* Appends the sample's lines. */
void script_write(const struct script_writer *w, const struct script_sample *s,
		  struct buf *out);
