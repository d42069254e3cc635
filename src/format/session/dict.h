/* dict.h - the interned things that samples refer to by number: strings, events, images,
 * frames, stacks and threads of one segment of a session.
 * Layer: format.  Not thread safe.  Numbers are given in order of first use from 0 on, so
 * a writer can append "all since the last flush", and a reader gets the same numbers. */
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
		0xffffffff, /* no such thing; unknown; and "memory is short" of adds */
	BUILD_ID_MAX = 20
};

enum image_kind {
	IMAGE_LOST,     /* a number whose description was damaged in the file */
	IMAGE_FILE,     /* executable or library; offset = offset in the file */
	IMAGE_KERNEL,   /* offset = address - start; start 0 if the base was hidden */
	IMAGE_MODULE,   /* name is the module's ("ext4"); offset = address - start */
	IMAGE_BPF,      /* JITed BPF program; offset = address - start */
	IMAGE_VDSO,     /* "[vdso]"; offset = offset in the saved vdso image */
	IMAGE_ANON,     /* memory without a file, code of process `pid`, [start, end) */
	IMAGE_UNMAPPED, /* of process `pid`, in no known mapping; offset = address */
	/* What the processor did outside this system; offset = address - start: */
	IMAGE_GUEST_KERNEL, /* the kernel of a virtual machine */
	IMAGE_GUEST_USER,   /* its programs */
	IMAGE_HYPERVISOR, /* below us; also where the kernel does not say in what mode */
	/* In kernel mode, neither in the kernel nor in a known module; offset = address: */
	IMAGE_KERNEL_UNMAPPED,
	/* Code of process `pid` that a jitdump tells of; name is the dump's; offset as in struct
	 * jitdump_code.  Made when samples are read, in no file (resolve/jit/stage.h). */
	IMAGE_JIT,
	IMAGE_COUNT
};

struct build_id {
	uint8_t len; /* 0: unknown */
	uint8_t bytes[BUILD_ID_MAX];
};

struct image {
	uint32_t name; /* string: full path as recorded, or a kernel-like name */
	enum image_kind kind;
	struct build_id build_id;
	uint64_t dev;   /* as first seen; makedev() of major and minor; 0 unknown */
	uint64_t inode; /* 0 unknown; of ANON and UNMAPPED: number of the instance */
	uint64_t inode_gen;  /* 0 unknown */
	uint64_t mtime_ns;   /* since 1970; 0 unknown */
	uint64_t file_bytes; /* size of the file; 0 unknown */
	uint64_t start;      /* run-time range where the kind needs it, else 0 */
	uint64_t end;
	int32_t pid; /* of ANON (0: it holds data), UNMAPPED and JIT, else 0 */
	/* Of KERNEL: where one symbol was while it ran.  Other sources of its symbols (a file, or
	 * /proc/kallsyms of another boot) are shifted until they agree.  0: unknown.
	 * Of ANON: the offset that `start` has; not 0 where it has the pages of a memfd. */
	uint32_t ref_name; /* string: "_text", "_stext" */
	uint64_t ref_address;
};

/* Without the four bytes of padding: of all that a reader keeps, these are the most. */
struct frame {
	uint64_t offset; /* meaning by the image's kind, above */
	uint32_t image;
} __attribute__((packed, aligned(4)));

/* Stacks are a trie from the thread's root inwards: a node is a frame and the node of its
 * caller.  A sample's stack is the node of its leaf.  Nodes 0 and 1 are no frames: */
enum {
	STACK_ROOT = 0, /* the caller of an outermost frame (or callers not recorded) */
	STACK_TRUNCATED =
		1, /* the chain was cut here: the callers exist but are unknown */
	STACK_FIRST = 2
};

struct stack {
	uint32_t parent;
	uint32_t frame; /* DICT_NONE in nodes 0 and 1 */
};

/* One thread during one span in which its name, application and cgroup are the same. */
struct thread {
	int32_t pid; /* thread group; -1: a task that was exiting; 0: idle */
	int32_t tid;
	int32_t ns_pid; /* innermost namespace's number where known, else = pid */
	int32_t ns_tid;
	uint32_t comm;   /* string */
	uint32_t app;    /* image of the process's main binary, or DICT_NONE */
	uint32_t cgroup; /* string, "" unknown */
	uint32_t flags;  /* THREAD_... */
	uint64_t
		start_ns; /* of the process instance, session clock; 0 = before recording */
};

enum {
	THREAD_KERNEL = 1, /* a kernel thread, or idle */
	THREAD_EXITING = 2,
	THREAD_LOST = 4 /* a number whose description was damaged in the file */
};

struct event_desc {
	uint32_t
		name; /* string: as OProfile shows it: TIMER, CPU_CLK..., page-faults */
	uint32_t about; /* string: one line of what is counted */
	uint32_t type;  /* perf_event_attr.type and config words */
	uint32_t flags; /* EVENT_... */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t count;        /* period asked for; 0 under a frequency */
	uint64_t frequency_hz; /* 0 under a period */
	uint64_t unit_mask;
	uint32_t
		mask_about; /* string: the unit mask in words; "": not known, or several */
};

enum {
	EVENT_USER = 1,     /* user space is sampled */
	EVENT_KERNEL = 2,   /* kernel space is sampled */
	EVENT_TIMER = 4,    /* the cpu-clock stand-in: OProfile's TIMER */
	EVENT_CHAINS = 8,   /* call chains were recorded */
	EVENT_LOST = 16,    /* a number whose description was damaged in the file */
	EVENT_PRECISE = 32, /* samples stand at the instruction that caused them */
	EVENT_MEMBER = 64   /* counted at the samples of the first event of its group */
};

/* The dict of a reader (segment_dict()) has no lookup tables: numbers lead to things, not
 * back.  Where its file was damaged it has holes: IMAGE_LOST, EVENT_LOST, THREAD_LOST,
 * frames whose image and stacks whose frame is DICT_NONE.  Only a walk over a whole table
 * meets them; no number that leads from one thing to another leads to a hole. */
struct dict {
	struct strtab strings;
	VEC(struct event_desc) events;
	VEC(struct image) images;
	VEC(struct frame) frames;
	VEC(struct stack) stacks;
	VEC(struct thread) threads;
	struct pairs frame_by;   /* (image, offset) where that has 32 bits ... */
	struct map far_frame_by; /* ... and where it has more */
	/* (parent, frame), but for stacks right behind their parents, and for ... */
	struct pairs stack_by;
	/* ... frames without parents: their stacks, by frame.  As long as there are no others, made
	 * with their frames, it is empty: stack STACK_FIRST + n is frame n alone. */
	VEC(uint32_t) leaves;
	bool chains;          /* there are others */
	struct map image_by;  /* hash of the identity, turn */
	struct map thread_by; /* hash, turn */
};

/* 0 or -ENOMEM. */
int dict_init(struct dict *d);
void dict_done(struct dict *d);
/* Memory that it takes, about. */
size_t dict_bytes(const struct dict *d);
/* Frees the lookup tables: nothing is added any more, and it is like the dict of a reader. */
void dict_seal(struct dict *d);
/* Each returns the number, old or new; DICT_NONE when memory is short.  Two images are one
 * if kind, name and build-id agree, and where there is no build-id all else too. */
uint32_t dict_string(struct dict *d, const char *s);
/* A string with a number of its own, that dict_string() does not give: its text may change, up to
 * the end of all that is added.  dict_change_string(): 0 or -ENOMEM. */
uint32_t dict_own_string(struct dict *d, const char *s);
int dict_change_string(struct dict *d, uint32_t own, const char *s);
uint32_t dict_event(struct dict *d, const struct event_desc *event);
uint32_t dict_image(struct dict *d, const struct image *image);
/* The same of an image whose file was looked at: two files that say the same build-id of themselves are two. */
uint32_t dict_image_of_file(struct dict *d, const struct image *image);
uint32_t dict_frame(struct dict *d, uint32_t image, uint64_t offset);
uint32_t dict_stack(struct dict *d, uint32_t parent, uint32_t frame);
/* The stack of that frame alone: dict_stack() under STACK_ROOT of dict_frame(). */
uint32_t dict_leaf(struct dict *d, uint32_t image, uint64_t offset);
/* A path from a node inwards whose nodes are looked for, but not made.  A step ends where memory
 * must be waited for, so that the steps of many paths wait together. */
struct dict_path {
	const uint32_t *frames; /* the innermost first */
	uint32_t left;          /* so many of them have no node yet */
	uint32_t node;          /* of the others */
	bool asked;             /* the memory of the next node is on its way */
};
/* False: it is at its end, or (`left` is not 0) the next node does not exist. */
bool dict_path_step(const struct dict *d, struct dict_path *path);
/* Has the memory fetched in which dict_frame() and dict_leaf() will look. */
void dict_prefetch_frame(const struct dict *d, uint32_t image, uint64_t offset);
/* The same for the first callee of a stack; DICT_NONE is fine. */
void dict_prefetch_callee(const struct dict *d, uint32_t stack);
uint32_t dict_thread(struct dict *d, const struct thread *thread);
/* The string with this number, "" if there is none. */
const char *dict_str(const struct dict *d, uint32_t string);
