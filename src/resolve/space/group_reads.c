/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/space/group_reads.h"

#include <errno.h>

bool group_reads_has(const struct perf_event_attr *a)
{
	return a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_FORMAT_ID;
}

bool group_reads_is_member(const struct perf_event_attr *a)
{
	return group_reads_has(a) && a->read_format & PERF_FORMAT_GROUP &&
	       !a->sample_period;
}

int group_reads_take(struct deltas *d, const struct decoder *decoder,
		     const struct record *rec, struct group_shares *ret_shares)
{
	const struct record_read *read = &rec->sample.read;
	bool inherits = decoder->attrs.at[rec->id.event].inherit;
	uint64_t thread = inherits ? (uint32_t)rec->id.tid : 0;

	bool any = !read->nr, is_known = true;

	ret_shares->list.nr = 0;
	for (uint64_t i = 0; i < read->nr && i < GROUP_SHARES_MAX; i++) {
		struct read_value v = decoder_read_at(decoder, read, i);
		struct group_share share = {
			.id = v.id, .event = map_get(&decoder->by_id, v.id, 0)
		};

		if (share.event == MAP_NONE) {
			is_known &= !v.value;
			continue;
		}
		any = true;
		if (deltas_take(d, v.id, thread, v.value, &share.period))
			return -ENOMEM;
		if (share.period && !vec_push(&ret_shares->list, share))
			return -ENOMEM;
	}
	return any && is_known ? 0 : 1;
}
