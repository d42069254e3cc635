/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_check.h - checks the hash table of a sample file of OProfile.
 * Layer: format. Readers do not need the hash table, but it disagrees with the nodes if the file is
 * damaged, or if the header states another number of nodes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct odb_file;

struct odb_table_faults {
	/* links to nodes that are not in use, or to a node that another link points to */
	uint64_t wrong_links;
	uint64_t wrong_slots; /* nodes in the chain of another key */
	uint64_t unlinked;    /* nodes in use that no chain contains */
	uint64_t repeated;    /* nodes with the same key as another node */
	uint64_t empty;       /* nodes in use without samples */
	uint64_t extra_bytes; /* number of bytes after the table */
};

/* Checks the table of an open file of `len` bytes. Returns 0 or -ENOMEM. */
int odb_table_check(const struct odb_file *file, size_t len,
		    struct odb_table_faults *ret_faults);
bool odb_table_is_faulty(const struct odb_table_faults *faults);
