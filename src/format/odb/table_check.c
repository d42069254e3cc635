/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/odb/table_check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/map.h"
#include "format/odb/sample_file.h"

struct odb_table_walk {
	const struct odb_file *file;
	bool *seen; /* by number of the node */
	struct map keys;
	struct odb_table_faults faults;
	bool no_memory;
};

/* Records the key of a node, and counts it as repeated if another node has the same key.
 * OProfile itself adds another node for a key only if the count of the first has reached its
 * maximum. */
static void odb_table_note_key(struct odb_table_walk *w, uint32_t i,
			       const struct odb_node *node)
{
	uint32_t first = map_get(&w->keys, node->key, 0);

	if (first == MAP_NONE)
		w->no_memory |= map_set(&w->keys, node->key, 0, i) != 0;
	else
		w->faults.repeated +=
			node->value != UINT32_MAX &&
			odb_file_node(w->file, first - 1).value != UINT32_MAX;
}

static void odb_table_walk_chain(struct odb_table_walk *w, uint32_t slot)
{
	uint32_t i = odb_file_chain(w->file, slot);

	for (; i && !w->no_memory; i = odb_file_next(w->file, i - 1)) {
		struct odb_node node;

		if (i > w->file->nr_nodes || w->seen[i - 1]) {
			w->faults.wrong_links++;
			return;
		}
		w->seen[i - 1] = true;
		node = odb_file_node(w->file, i - 1);
		w->faults.wrong_slots += odb_file_slot(w->file, node.key) != slot;
		odb_table_note_key(w, i, &node);
	}
}

int odb_table_check(const struct odb_file *file, size_t len,
		    struct odb_table_faults *ret_faults)
{
	struct odb_table_walk w = { .file = file };

	w.seen = calloc(file->nr_nodes ? file->nr_nodes : 1, sizeof(*w.seen));
	if (!w.seen)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < file->size && !w.no_memory; slot++)
		odb_table_walk_chain(&w, slot);
	for (uint32_t i = 0; i < file->nr_nodes; i++) {
		w.faults.unlinked += !w.seen[i];
		w.faults.empty += !odb_file_node(file, i).value;
	}
	w.faults.extra_bytes = len - odb_file_bytes(file);
	free(w.seen);
	map_done(&w.keys);
	if (w.no_memory)
		return -ENOMEM;
	*ret_faults = w.faults;
	return 0;
}

bool odb_table_is_faulty(const struct odb_table_faults *faults)
{
	return faults->wrong_links || faults->wrong_slots || faults->unlinked ||
	       faults->repeated || faults->empty || faults->extra_bytes;
}
