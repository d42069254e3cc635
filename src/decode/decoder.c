#include "decode/record.h"

#include <errno.h>

#include "base/err.h"

void decoder_init(struct decoder *d, bool swap)
{
	*d = (struct decoder){ .swap = swap };
}

int decoder_add_attr(struct decoder *d, const struct perf_event_attr *attr)
{
	return vec_push(&d->attrs, *attr) ? 0 : -ENOMEM;
}

int decoder_add_id(struct decoder *d, uint64_t id, uint32_t attr_index)
{
	return map_set(&d->by_id, id, 0, attr_index);
}

void decoder_done(struct decoder *d)
{
	vec_done(&d->attrs);
	map_done(&d->by_id);
}
