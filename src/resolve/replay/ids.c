/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/ids.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/containers/hash.h"
#include "resolve/replay/images.h"

static const char kernel_name[] = "[kernel.kallsyms]";

void replay_ids_done(struct replay_ids *t)
{
	vec_done(&t->ids);
	map_done(&t->by_name);
}

/* Identifies a name by a 64-bit hash, which is enough for tables of some hundred names. */
static uint64_t replay_ids_name_key(const char *name, bool kernel)
{
	return hash_bytes(name, strlen(name), kernel);
}

static bool is_kernel_kind(enum image_kind kind)
{
	return kind == IMAGE_KERNEL || kind == IMAGE_MODULE;
}

static int add_id(struct replay_ids *t, const struct perf_input_build_id *row)
{
	uint16_t mode = row->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool kernel = mode == PERF_RECORD_MISC_KERNEL;
	char name[IMAGE_NAME_MAX];

	/* Skip guests: their binaries can have the same names. */
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    mode == PERF_RECORD_MISC_GUEST_USER || !row->id.len)
		return 0;
	if (kernel) {
		image_kernel_name(row->name, name, sizeof(name));
		if (map_set(&t->by_name, replay_ids_name_key(name, true), 0,
			    (uint32_t)t->ids.nr))
			return -ENOMEM;
	} else if (map_set(&t->by_name, replay_ids_name_key(row->name, false), 0,
			   (uint32_t)t->ids.nr)) {
		return -ENOMEM;
	}
	return vec_push(&t->ids, row->id) ? 0 : -ENOMEM;
}

int replay_ids_add(struct replay_ids *t, const struct perf_input *in)
{
	const struct perf_input_info *info = perf_input_info(in);

	for (; t->nr_rows < info->build_ids.nr; t->nr_rows++)
		if (add_id(t, &info->build_ids.at[t->nr_rows]))
			return -ENOMEM;
	return 0;
}

void replay_ids_find(const struct replay_ids *t, const char *name, enum image_kind kind,
		     struct build_id *ret_id)
{
	uint32_t at = map_get(&t->by_name,
			      replay_ids_name_key(name, is_kernel_kind(kind)), 0);

	if (at != MAP_NONE)
		*ret_id = t->ids.at[at];
}

void replay_ids_kernel(const struct replay_ids *t, struct build_id *ret_id)
{
	replay_ids_find(t, kernel_name, IMAGE_KERNEL, ret_id);
}
