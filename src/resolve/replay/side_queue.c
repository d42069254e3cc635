#include "resolve/replay/side_queue.h"

#include <errno.h>
#include <stdlib.h>

void side_queue_done(struct side_queue *q)
{
	for (size_t i = q->given; i < q->records.nr; i++)
		free(q->records.at[i].bytes);
	vec_done(&q->records);
}

int side_queue_keep(struct side_queue *q, struct feed_batch *batch)
{
	if (q->given == q->records.nr)
		q->given = q->records.nr = 0;
	if (!vec_reserve(&q->records, q->records.nr + batch->side.nr))
		return -ENOMEM;
	for (size_t i = 0; i < batch->side.nr; i++) {
		q->records.at[q->records.nr++] = batch->side.at[i];
		batch->side.at[i].bytes = NULL;
	}
	return 0;
}

int side_queue_give(struct side_queue *q, const struct decoder *decoder,
		    uint64_t time_ns, side_fn fn, void *ctx)
{
	int result = 0;

	while (!result && q->given < q->records.nr &&
	       q->records.at[q->given].time_ns <= time_ns) {
		struct feed_side *s = &q->records.at[q->given++];
		struct record rec;

		if (!decoder_record(decoder, s->bytes, s->len, &rec, NULL))
			result = fn(ctx, &rec);
		free(s->bytes);
	}
	return result;
}
