/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/deferred_samples.h"

#include <errno.h>

#include "base/clock.h"
#include "decode/record.h"

enum {
	WAITING_MAX_BYTES = 16 << 20
};

/* How long a sample waits for its user callers. A thread that sleeps longer delivers them later,
 * but then too many records would have to be kept. */
static const uint64_t waiting_max_ns = 30 * NS_PER_S;

int deferred_samples_join(struct deferred_samples *d, const struct decoder *decoder,
			  struct grouped_sample *sample, uint64_t now_ns)
{
	uint64_t time_ns = sample->rec.id.time_ns;
	bool last = d->waiting.len > WAITING_MAX_BYTES ||
		    (now_ns > time_ns && now_ns - time_ns > waiting_max_ns);
	int r;

	r = chain_join_deferred(&d->chains, decoder, CHAIN_OF_RETURNS, last,
				&sample->chain, &sample->rec);
	if (r <= 0)
		return r;
	if (!d->waiting.len || time_ns < d->since_ns)
		d->since_ns = time_ns;
	buf_put(&d->waiting, sample->bytes, sample->len);
	return d->waiting.failed ? -ENOMEM : 1;
}

struct buf deferred_samples_take(struct deferred_samples *d)
{
	struct buf taken = d->waiting;

	d->waiting = (struct buf){ 0 };
	return taken;
}

uint64_t deferred_samples_since(const struct deferred_samples *d)
{
	return d->waiting.len ? d->since_ns : UINT64_MAX;
}

void deferred_samples_forget(struct deferred_samples *d, uint64_t time_ns)
{
	uint64_t since = deferred_samples_since(d);

	deferred_chains_forget(&d->chains, since < time_ns ? since : time_ns);
}

void deferred_samples_done(struct deferred_samples *d)
{
	deferred_chains_done(&d->chains);
	buf_done(&d->waiting);
}
