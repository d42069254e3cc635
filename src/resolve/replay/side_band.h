/* side_band.h - side-band records that wait for the frontier, to be applied in time order.
 * Layer: resolve. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "decode/record.h"
#include "resolve/replay/resolver.h"

struct side_band_entry {
	uint64_t time_ns;
	size_t offset; /* in bytes */
	uint32_t len;
};

struct side_band {
	struct buf bytes;
	VEC(struct side_band_entry) entries, room; /* room: to sort them into */
	uint64_t lost; /* records that the kernel could not write */
};

/* Keeps a copy of a raw record, which was decoded to `rec`.  0 or -ENOMEM. */
int side_band_add(struct side_band *s, const struct record *rec, const void *record,
		  size_t len);
/* Applies what is not younger than the frontier, oldest first, and keeps the rest.
 * 0 or -ENOMEM. */
int side_band_apply(struct side_band *s, const struct decoder *d, struct resolver *r,
		    uint64_t frontier_ns);
void side_band_done(struct side_band *s);
