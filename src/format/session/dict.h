/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict.h - interns the objects that samples refer to by number: strings, events, images,
 * frames, stacks and threads of a single segment.
 * Layer: format.  Not thread safe.  Numbers are assigned from 0 in order of first use. So a
 * writer can append all entries since the last flush, and a reader gets the same numbers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/pairs.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"

enum {
	DICT_NONE =
		0xffffffff, /* not present or unknown; also returned by adds if memory is short */
	BUILD_ID_MAX = 20
};

enum image_kind {
	IMAGE_LOST, /* the description of this image was damaged in the file */
	IMAGE_FILE, /* executable or library; offset = offset in the file */
	IMAGE_KERNEL, /* offset = address - start; start is 0 if the base address was hidden */
	IMAGE_MODULE, /* named after the module ("ext4"); offset = address - start */
	IMAGE_BPF,    /* JITed BPF program; offset = address - start */
	IMAGE_VDSO,   /* "[vdso]"; offset = offset in the saved vdso image */
	IMAGE_ANON,   /* code of process `pid` in memory without a file, [start, end) */
	/* code of process `pid` outside of all known mappings; offset = address */
	IMAGE_UNMAPPED,
	/* Code outside of this system; offset = address - start: */
	IMAGE_GUEST_KERNEL, /* the kernel of a virtual machine */
	IMAGE_GUEST_USER,   /* programs of a virtual machine */
	/* the hypervisor that runs this system; also used if the cpu mode is unknown */
	IMAGE_HYPERVISOR,
	/* In kernel mode, but neither in the kernel nor in a known module; offset = address: */
	IMAGE_KERNEL_UNMAPPED,
	/* Code of process `pid` that a jitdump describes. The name is that of the dump, the
	 * offset as in struct jitdump_code. Created when samples are read, never stored
	 * (resolve/jit/stage.h). */
	IMAGE_JIT,
	IMAGE_COUNT
};

struct build_id {
	uint8_t len; /* 0: unknown */
	uint8_t bytes[BUILD_ID_MAX];
};

struct image {
	uint32_t
		name; /* string: the full path as recorded, or a name such as the kernel's */
	enum image_kind kind;
	struct build_id build_id;
	uint64_t dev; /* as first seen; makedev() of major and minor; 0: unknown */
	/* 0: unknown. For ANON and UNMAPPED: a number that differs for each such image, because
	 * other code can be at the same addresses later. */
	uint64_t inode;
	uint64_t inode_gen;  /* 0: unknown */
	uint64_t mtime_ns;   /* since 1970; 0: unknown */
	uint64_t file_bytes; /* 0: unknown */
	uint64_t start;      /* run-time address range if the kind needs it, else 0 */
	uint64_t end;
	int32_t pid; /* for ANON (0: it contains data), UNMAPPED and JIT, else 0 */
	/* For KERNEL: the run-time address of a single symbol. Other sources of kernel symbols (a
	 * file, or /proc/kallsyms of another boot) are shifted to match it. 0: unknown.
	 * For ANON: the file offset that `start` maps; nonzero if it maps pages of a memfd.
	 * For FILE: the name is IMAGE_REMAPPED if this is a copy of the file's code in memory. */
	uint32_t ref_name; /* string: "_text", "_stext" */
	uint64_t ref_address;
};

/* The name of an image for code in anonymous memory that is probably a copy of a file's code. Some
 * programs copy their code to the same addresses to get huge pages, but nothing proves that it is
 * a copy, hence this mark. */
#define IMAGE_REMAPPED "[remapped]"

/* Packed to avoid four bytes of padding: frames are the largest part of a reader's memory. */
struct frame {
	uint64_t offset; /* depends on the kind of the image, see above */
	uint32_t image;
} __attribute__((packed, aligned(4)));

/* Stacks are a trie, whose root is the start of a thread. A node consists of a frame and the node
 * of its caller. A sample refers to the node of its innermost frame. Nodes 0 and 1 have no
 * frame. */
enum {
	/* the caller of an outermost frame, or of a frame whose callers were not recorded */
	STACK_ROOT = 0,
	STACK_TRUNCATED =
		1, /* the chain was truncated: there are callers, but they are unknown */
	STACK_FIRST = 2
};

struct stack {
	uint32_t parent;
	uint32_t frame; /* DICT_NONE for nodes 0 and 1 */
};

/* One thread, while its name, application and cgroup stay the same. */
struct thread {
	int32_t pid; /* process; -1: a task that was exiting; 0: idle */
	int32_t tid;
	int32_t ns_pid; /* pid in the innermost namespace if known, else `pid` */
	int32_t ns_tid;
	uint32_t comm; /* string */
	/* Number of the image of the process's main binary, or DICT_NONE. */
	uint32_t app;
	uint32_t cgroup; /* string; "": unknown */
	uint32_t flags;  /* THREAD_... */
	/* Start of the process in the recording's clock; 0: before the recording. */
	uint64_t start_ns;
};

enum {
	THREAD_KERNEL = 1, /* a kernel thread, or idle */
	THREAD_EXITING = 2,
	THREAD_LOST = 4 /* the description of this thread was damaged in the file */
};

struct event_desc {
	uint32_t name;  /* string: OProfile's name: TIMER, CPU_CLK..., page-faults */
	uint32_t about; /* string: a one-line description of the event */
	uint32_t type;  /* perf_event_attr.type and config words */
	uint32_t flags; /* EVENT_... */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t count;        /* requested period; 0 if a frequency was requested */
	uint64_t frequency_hz; /* requested frequency; 0 if a period was requested */
	uint64_t unit_mask;
	uint32_t
		mask_about; /* string: description of the unit mask; "": unknown, or several
                             * masks */
};

enum {
	EVENT_USER = 1,     /* user space is sampled */
	EVENT_KERNEL = 2,   /* kernel space is sampled */
	EVENT_TIMER = 4,    /* the cpu-clock as a fallback: OProfile's TIMER */
	EVENT_CHAINS = 8,   /* call chains were recorded */
	EVENT_LOST = 16,    /* the description of this event was damaged in the file */
	EVENT_PRECISE = 32, /* samples point to the instruction that caused them */
	/* a group member: read whenever the first event of its group takes a sample */
	EVENT_MEMBER = 64,
	/* its stacks are calls (a caller and a callee) without samples; only call graphs count
	 * them, as calls of the event with the same name and without this flag */
	EVENT_CALLS = 128,
	/* the period of a sample is a measured value, and the number of samples has no meaning:
	 * imported from a profile without numbers of samples */
	EVENT_VALUES = 256
};

/* A reader's dict (segment_dict()) has no lookup tables: it maps numbers to objects, but not
 * back. If its file was damaged it has holes: IMAGE_LOST, EVENT_LOST, THREAD_LOST, frames whose
 * image is DICT_NONE and stacks whose frame is DICT_NONE. Only code that iterates over a whole
 * table meets them: no reference from one entry to another leads to a hole. */
struct dict {
	struct strtab strings;
	VEC(struct event_desc) events;
	VEC(struct image) images;
	VEC(struct frame) frames;
	VEC(struct stack) stacks;
	VEC(struct thread) threads;
	/* (image, offset) -> frame, for offsets that fit into 32 bits */
	struct pairs frame_by;
	struct map far_frame_by; /* (image, offset) -> frame, for larger offsets */
	/* (parent, frame) -> stack, except for stacks whose number is their parent's plus 1, and
	 * for stacks of a single frame */
	struct pairs stack_by;
	/* The stack that consists of this frame only, by frame number. The list is empty as long
	 * as all stacks are single frames that were created together with their frames: stack
	 * STACK_FIRST + n is then frame n. */
	VEC(uint32_t) leaves;
	/* some stacks are not such single frames, so `leaves` is used */
	bool chains;
	struct map image_by;  /* (hash of the identity, probe number) -> image */
	struct map thread_by; /* (hash, probe number) -> thread */
};

/* Initializes an empty dictionary. Returns 0 or -ENOMEM. */
int dict_init(struct dict *d);
void dict_done(struct dict *d);
/* Returns the approximate memory use in bytes. */
size_t dict_bytes(const struct dict *d);
/* Frees the lookup tables. Entries cannot be added afterwards. */
void dict_seal(struct dict *d);
/* These functions return the number of the entry, which is added if it is new, or DICT_NONE if
 * memory is short. Two images are equal if their kind, name and build-id agree and, without a
 * build-id, all other fields also agree. */
uint32_t dict_string(struct dict *d, const char *s);
/* Adds a string with a separate number, which dict_string() never returns, so that
 * dict_change_string() can change the text later. dict_change_string() returns 0 or -ENOMEM. */
uint32_t dict_own_string(struct dict *d, const char *s);
int dict_change_string(struct dict *d, uint32_t own, const char *s);
uint32_t dict_event(struct dict *d, const struct event_desc *event);
uint32_t dict_image(struct dict *d, const struct image *image);
/* Like dict_image(), for an image whose build-id was read from its file: two different files with
 * the same build-id are two images. */
uint32_t dict_image_of_file(struct dict *d, const struct image *image);
uint32_t dict_frame(struct dict *d, uint32_t image, uint64_t offset);
uint32_t dict_stack(struct dict *d, uint32_t parent, uint32_t frame);
/* Returns the stack that consists of this frame only: dict_stack() of STACK_ROOT and
 * dict_frame(). */
uint32_t dict_leaf(struct dict *d, uint32_t image, uint64_t offset);
/* A search for the node of a stack, which proceeds inwards from a given node and does not create
 * nodes. Each step ends with a prefetch, so that the cache misses of many searches overlap. */
struct dict_path {
	const uint32_t *frames; /* innermost first */
	uint32_t left; /* number of frames whose nodes are still to be looked up */
	uint32_t node; /* the node of the frames that were looked up */
	bool asked;    /* the memory of the next node was prefetched */
};
/* Proceeds by one frame. Returns false at the end of the path (`left` is 0), or if the next node
 * does not exist. */
bool dict_path_step(const struct dict *d, struct dict_path *path);
/* Prefetches the memory that dict_frame() and dict_leaf() will read. */
void dict_prefetch_frame(const struct dict *d, uint32_t image, uint64_t offset);
/* Prefetches the memory that a lookup of a callee of `stack` will read. Accepts DICT_NONE. */
void dict_prefetch_callee(const struct dict *d, uint32_t stack);
uint32_t dict_thread(struct dict *d, const struct thread *thread);
/* Returns the string with this number, or "" for an unknown number. */
const char *dict_str(const struct dict *d, uint32_t string);
