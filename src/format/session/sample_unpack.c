/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_unpack.c - decodes the requested columns of a block of samples. */
#include "format/session/sample_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/session/recent.h"

enum {
	TIME_UNITS_MAX = 1 << 20 /* a tenth of a second */
};

void sample_columns_done(struct sample_columns *c)
{
	free(c->values);
	free(c->time_ns);
	free(c->period);
	free(c->thread);
	free(c->event);
	free(c->stack);
	free(c->again);
	free(c->cpu);
	free(c->bad);
	*c = (struct sample_columns){ 0 };
}

static int sample_unpack_make_room(struct sample_columns *c, size_t nr)
{
	size_t cap = nr < SAMPLES_PER_BLOCK ? SAMPLES_PER_BLOCK : SAMPLES_PER_BLOCK_MAX;

	if (nr <= c->cap)
		return 0;
	sample_columns_done(c);
	c->values = malloc(cap * sizeof(*c->values));
	c->time_ns = malloc(cap * sizeof(*c->time_ns));
	c->period = malloc(cap * sizeof(*c->period));
	c->thread = malloc(cap * sizeof(*c->thread));
	c->event = malloc(cap * sizeof(*c->event));
	c->stack = malloc(cap * sizeof(*c->stack));
	c->again = malloc(cap * sizeof(*c->again));
	c->cpu = malloc(cap * sizeof(*c->cpu));
	c->bad = malloc(cap);
	if (!c->values || !c->time_ns || !c->period || !c->thread || !c->event ||
	    !c->stack || !c->again || !c->cpu || !c->bad) {
		sample_columns_done(c);
		return -ENOMEM;
	}
	c->cap = cap;
	return 0;
}

static int unpack_times(struct sample_columns *c, struct cursor *in,
			struct column_decoder *d)
{
	struct time_grid grid;
	uint64_t units = 1;
	int r;

	grid.step_ns = cursor_varint(in);
	grid.at_ns = cursor_varint(in);
	r = column_decode(d, in, c->values, c->nr);
	if (!r)
		r = column_decode(d, in, c->time_ns, c->nr);
	if (r)
		return r;
	if (cursor_left(in))
		units = cursor_varint(in);
	if (in->failed || !units || units > TIME_UNITS_MAX)
		return -EBADMSG;
	grid.unit_ns = units * SAMPLE_TIME_UNIT_NS;
	for (size_t i = 0; i < c->nr; i++) {
		uint64_t expected = time_grid_expect(&grid, c->values[i]);
		uint64_t rest = unzigzag(c->time_ns[i]);

		time_grid_follow(&grid, expected, rest);
		c->time_ns[i] = (expected / grid.unit_ns + rest) * grid.unit_ns;
	}
	return 0;
}

static int unpack_stacks(struct sample_columns *c, struct cursor *in,
			 struct column_decoder *d)
{
	uint32_t next = (uint32_t)cursor_varint(in);
	int r = column_decode_u32(d, in, c->stack, c->nr);

	if (r)
		return r;
	for (size_t i = 0; i < c->nr; i++) {
		uint32_t stack = next - c->stack[i];

		c->stack[i] = stack;
		/* Avoids a branch, because the CPU cannot predict whether a stack is new. */
		next = stack >= next && stack != DICT_NONE ? stack + 1 : next;
	}
	return 0;
}

static uint32_t sample_unpack_end_of(const struct chain_ends *ends, uint32_t chain)
{
	return chain < ends->stacks.nr ? ends->stacks.at[chain] : CHAIN_LOST;
}

static int unpack_chains(struct sample_columns *c, struct cursor *in,
			 const struct chain_ends *ends, struct column_decoder *d)
{
	uint32_t next = (uint32_t)cursor_varint(in);
	size_t nr_again = 0;
	int r = column_decode(d, in, c->values, c->nr);

	if (r)
		return r;
	for (size_t i = 0; i < c->nr; i++) {
		uint64_t value = c->values[i];
		uint64_t distance = value / 2;

		if (!value) {
			c->stack[i] = sample_unpack_end_of(ends, next++);
			continue;
		}
		if (value & 1) {
			if (distance >= nr_again)
				return -EBADMSG;
			c->stack[i] = c->again[nr_again - 1 - distance];
		} else if (distance <= next) {
			c->stack[i] =
				sample_unpack_end_of(ends, next - (uint32_t)distance);
		} else {
			c->stack[i] = (uint32_t)(distance - 1 - next);
		}
		c->again[nr_again++] = c->stack[i];
	}
	return 0;
}

static int unpack_threads(struct sample_columns *c, struct cursor *in,
			  struct column_decoder *d)
{
	uint32_t recent[RECENT_THREADS];
	uint32_t nr_recent = 0;
	uint32_t next = (uint32_t)cursor_varint(in);
	int r = column_decode(d, in, c->values, c->nr);

	if (r)
		return r;
	for (size_t i = 0; i < c->nr; i++) {
		uint64_t value = c->values[i];
		uint32_t position = nr_recent;
		uint32_t thread = next;

		if (value > RECENT_THREADS) {
			thread = next - (uint32_t)(value - RECENT_THREADS);
		} else if (value) {
			position = (uint32_t)value - 1;
			if (position >= nr_recent)
				return -EBADMSG;
			thread = recent[position];
		}
		c->thread[i] = thread;
		if (thread >= next && thread != DICT_NONE)
			next = thread + 1;
		recent_use(recent, &nr_recent, RECENT_THREADS, position, thread);
	}
	return 0;
}

/* Returns the column that is encoded in the form `form`. */
static enum sample_column plain_column(uint8_t form)
{
	if (form == SAMPLE_RECENT_THREADS)
		return SAMPLE_THREAD;
	return form == SAMPLE_CHAINS ? SAMPLE_STACK : form;
}

static int unpack_column(struct sample_columns *c, uint8_t form, struct cursor *in,
			 const struct chain_ends *ends, struct column_decoder *d)
{
	switch (form) {
	case SAMPLE_TIME:
		return unpack_times(c, in, d);
	case SAMPLE_STACK:
		return unpack_stacks(c, in, d);
	case SAMPLE_PERIOD:
		return column_decode(d, in, c->period, c->nr);
	case SAMPLE_THREAD:
		return column_decode_u32(d, in, c->thread, c->nr);
	case SAMPLE_CPU:
		return column_decode_u32(d, in, c->cpu, c->nr);
	case SAMPLE_EVENT:
		return column_decode_u32(d, in, c->event, c->nr);
	case SAMPLE_RECENT_THREADS:
		return unpack_threads(c, in, d);
	case SAMPLE_CHAINS:
		return unpack_chains(c, in, ends, d);
	default:
		return -EBADMSG;
	}
}

int sample_unpack(struct sample_columns *c, struct cursor *payload,
		  unsigned int columns, const struct chain_ends *ends,
		  struct column_decoder *d)
{
	uint64_t nr = cursor_varint(payload);
	int r;

	if (payload->failed || !nr || nr > SAMPLES_PER_BLOCK_MAX)
		return -EBADMSG;
	r = sample_unpack_make_room(c, nr);
	if (r)
		return r;
	c->nr = nr;
	while (cursor_left(payload)) {
		uint8_t form = cursor_u8(payload);
		enum sample_column column = plain_column(form);
		uint64_t len = cursor_varint(payload);
		const void *bytes = cursor_take(payload, len);
		struct cursor in;

		if (!bytes)
			return -EBADMSG;
		if (column >= SAMPLE_COLUMN_COUNT || !(columns & 1U << column))
			continue;
		columns &= ~(1U << column);
		in = cursor_le(bytes, len);
		r = unpack_column(c, form, &in, ends, d);
		if (r)
			return r;
	}
	return columns ? -EBADMSG : 0;
}
