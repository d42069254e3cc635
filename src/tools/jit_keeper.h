/* jit_keeper.h - what just-in-time compilers tell of their code, kept for an archive: the maps
 * /tmp/perf-PID.map of processes with hits outside of all files, and the jitdump files that
 * processes map to be found by (tools/perf/Documentation/jit-interface.txt and
 * jitdump-specification.txt in Linux).
 * Layer: tools.  Files are held open when they are first seen, as the process, and with it a
 * container's /tmp, may be gone at the end. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct dict;
struct record_mmap;

struct kept_jit {
	int32_t pid;
	char *name; /* perf-7.map, jit-7.dump: the number is the one it knows itself by */
	int fd;
};

struct jit_keeper {
	VEC(struct kept_jit) kept;
	size_t nr_images; /* of the dict, seen so far */
};

/* The file name in the path of a jitdump, jit-NUMBER.dump; NULL: it is none. */
const char *jit_dump_name(const char *path);
/* Opens a regular file for reading, under no other name than its own: somebody else may own the
 * folder, and a link there would put any file of this machine into an archive.  `inode` 0:
 * any.  The descriptor or a negative errno. */
int jit_open(const char *path, uint64_t inode);

/* If it is a jitdump that was mapped, it is held. */
void jit_keeper_mapped(struct jit_keeper *k, const struct record_mmap *m);
/* Looks for the maps of what the dict has new. */
void jit_keeper_look(struct jit_keeper *k, const struct dict *dict);
/* Copies all into DIR/jit/PID/NAME. */
void jit_keeper_save(const struct jit_keeper *k, const char *dir);
void jit_keeper_done(struct jit_keeper *k);
