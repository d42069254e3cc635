/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_odb.c - any bytes as a sample file of OProfile, as its abi file, and as a path.  All prefixes
 * of a sample file are also read, and its table is written in every layout and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "format/odb/layout.h"
#include "format/odb/sample_file.h"
#include "format/odb/sample_path.h"
#include "format/odb/table_check.h"

enum {
	PREFIXES_MAX = 4096,
	NODES_MAX = 1024
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_layout(const odb_nodes *nodes, const struct odb_header *header,
			 const struct odb_layout *layout)
{
	struct buf out = { 0 };
	struct odb_file again;

	odb_file_put(layout, header, nodes, &out);
	if (out.failed || odb_file_open(out.data, out.len, NULL, &again, NULL) ||
	    again.nr_nodes != nodes->nr || again.header.event != header->event)
		abort();
	for (uint32_t i = 0; i < again.nr_nodes; i++) {
		struct odb_node node = odb_file_node(&again, i);

		if (node.key != nodes->at[i].key || node.value != nodes->at[i].value)
			abort();
	}
	buf_done(&out);
}

static void check_file(const struct odb_file *file, size_t len)
{
	odb_nodes nodes = { 0 };
	struct odb_table_faults faults;

	if (odb_table_check(file, len, &faults) ||
	    faults.unlinked + faults.empty > 2 * (uint64_t)file->nr_nodes)
		abort();
	for (uint32_t i = 0; i < file->nr_nodes && i < NODES_MAX; i++)
		if (!vec_push(&nodes, odb_file_node(file, i)))
			abort();
	for (int kind = 0; kind < 4; kind++) {
		struct odb_layout layout =
			odb_layout_of(file->header.version, kind & 1, kind & 2);

		check_layout(&nodes, &file->header, &layout);
	}
	vec_done(&nodes);
}

static void check_path(const uint8_t *data, size_t size)
{
	char *path = strndup((const char *)data, size);
	struct odb_path p, again;
	struct buf out = { 0 };

	if (path && !odb_path_parse(path, &p, NULL)) {
		odb_path_put(&p, &out);
		buf_put_u8(&out, 0);
		if (odb_path_parse((const char *)out.data, &again, NULL))
			abort();
		odb_path_done(&again);
		odb_path_done(&p);
		buf_done(&out);
	}
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct odb_layout layout;
	struct odb_file file;

	if (!odb_file_open(data, size, NULL, &file, NULL))
		check_file(&file, size);
	for (size_t len = 0; len < size && len < PREFIXES_MAX; len++)
		(void)odb_file_open(data, len, NULL, &file, NULL);
	if (!odb_abi_parse((const char *)data, size, &layout, NULL) &&
	    !odb_file_open(data, size, &layout, &file, NULL))
		check_file(&file, size);
	check_path(data, size);
	return 0;
}
