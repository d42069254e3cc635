/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odb_write.h - writes sessions as a session directory of OProfile 1.x, with its sample files
 * (docs/oprofile-trees.md).
 * Layer: import. Not thread safe. All distinct samples are kept in memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/odb/sample_file.h"

struct dict;
struct err;
struct session_info;
struct spec;

/* A sample file to be written. */
struct odb_made {
	char *path; /* below samples/current */
	struct odb_header header;
	odb_nodes nodes;
	struct map by; /* key -> node */
};

/* Zero-initialize it, and set `spec`. */
struct odb_writer {
	const struct spec *spec; /* selects the samples */
	VEC(struct odb_made) files;
	struct map file_by; /* (hash of the path, probe number) -> index of `files` */
	uint64_t samples;
	uint64_t lost;      /* samples that the kernel lost */
	uint64_t unmapped;  /* samples in code that sample files cannot represent */
	bool overflowed;    /* some counts exceed 32 bits and are limited */
	bool is_incomplete; /* a segment is damaged */
	/* The following belong to the current segment. */
	const struct dict *dict;
	const struct session_info *info;
};

/* Adds the samples of the session in `dir`.  Returns 0 or a negative errno with a message. */
int odb_writer_read(struct odb_writer *x, const char *dir, enum trust trust,
		    struct err *err);
/* Writes everything below the directory `dir`, which is created if necessary.  Returns 0 or a
 * negative errno with a message. */
int odb_writer_write(const struct odb_writer *x, const char *dir, struct err *err);
/* Releases all memory. */
void odb_writer_done(struct odb_writer *x);
