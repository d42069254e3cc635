/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_path.h - the path of a sample file below its session, which names the application, the
 * image and the event.
 * Layer: format.  docs/oprofile-trees.md describes it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

enum odb_image_kind {
	ODB_IMAGE_FILE,   /* {root}: `name` is an absolute path */
	ODB_IMAGE_KERNEL, /* {kern}: `name` is "no-vmlinux", or that of a module */
	ODB_IMAGE_ANON /* {anon:NAME}: memory of a process; `name` is "anon", "[vdso]" ... */
};

struct odb_image {
	enum odb_image_kind kind;
	char *name;
	int32_t pid; /* process of ODB_IMAGE_ANON; `start` and `end` also are only for that kind */
	uint64_t start;
	uint64_t end;
};

enum {
	ODB_ALL = -1 /* the field `all`: not separated */
};

struct odb_path {
	struct odb_image app;
	struct odb_image image;
	/* In a file of calls: the callee's image; otherwise callee.name is NULL. */
	struct odb_image callee;
	char *event;
	uint64_t count;
	uint64_t unit_mask;
	int32_t tgid; /* ODB_ALL if not separated, as in the next two fields */
	int32_t tid;
	int32_t cpu;
};

/* Parses a path relative to the session's directory. Returns 0 (the caller calls odb_path_done()
 * later), or -EBADMSG or -ENOMEM with a message. */
int odb_path_parse(const char *path, struct odb_path *ret_path, struct err *err);
void odb_path_done(struct odb_path *p);
/* Appends the path relative to the session's directory, without a NUL. */
void odb_path_put(const struct odb_path *p, struct buf *out);
/* Returns whether the name of a directory marks a tree of OProfile: "{root}", "{kern}". */
bool odb_path_begins(const char *name);
