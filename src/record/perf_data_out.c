/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/perf_data_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "capture/events/events.h"
#include "capture/events/perf_attr.h"
#include "capture/source/perf_source.h"
#include "capture/system/machine.h"
#include "decode/record.h"
#include "format/perfdata/data.h"

struct perf_data_out {
	struct perf_data_writer *writer;
	/* Scratch: the sample being written, with a complete chain. */
	struct buf sample;
	uint64_t clock_ns;
	uint64_t clock_wall_ns;
	uint64_t first_ns; /* time of the first sample; 0: none yet */
	uint64_t last_ns;
};

/* Returns the event's name for perf, which has no event named TIMER. */
static const char *perf_data_out_perf_name(const struct event_request *e)
{
	return e->timer ? "cpu-clock" : e->name;
}

/* Removes copied stacks and deferred chains from the attr, because the file contains complete
 * chains instead. */
static void leave_out_stacks(struct perf_event_attr *a)
{
	a->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	a->sample_regs_user = 0;
	a->sample_stack_user = 0;
	a->exclude_callchain_user = 0;
	perf_attr_set_bit(a, PERF_ATTR_DEFER_CALLCHAIN, false);
	perf_attr_set_bit(a, PERF_ATTR_DEFER_OUTPUT, false);
}

int perf_data_out_open(const char *path, const struct perf_source *source,
		       const struct event_request *events, size_t nr_events,
		       struct perf_data_out **ret_out, struct err *err)
{
	size_t nr_attrs = perf_source_nr_attrs(source);
	struct perf_data_event *list = calloc(nr_attrs, sizeof(*list));
	struct perf_event_attr *attrs = calloc(nr_attrs, sizeof(*attrs));
	struct perf_data_out *o = calloc(1, sizeof(*o));
	int r = -ENOMEM;

	if (!list || !attrs || !o)
		goto out;
	for (size_t i = 0; i < nr_attrs; i++) {
		attrs[i] = *perf_source_attr(source, i);
		leave_out_stacks(&attrs[i]);
		list[i].attr = &attrs[i];
		list[i].name =
			i < nr_events ? perf_data_out_perf_name(&events[i]) : "dummy:u";
		list[i].ids = perf_source_ids(source, i, &list[i].nr_ids);
	}
	o->clock_ns = clock_initial_ns(CLOCK_MONOTONIC);
	o->clock_wall_ns = clock_now_ns(CLOCK_REALTIME);
	r = perf_data_writer_open(path, list, nr_attrs, &o->writer, err);
	if (!r)
		*ret_out = o;
out:
	free(list);
	free(attrs);
	if (r)
		free(o);
	return r;
}

void perf_data_out_saw(struct perf_data_out *o, uint64_t time_ns)
{
	if (!o->first_ns || time_ns < o->first_ns)
		o->first_ns = time_ns;
	if (time_ns > o->last_ns)
		o->last_ns = time_ns;
}

int perf_data_out_write(struct perf_data_out *o, const void *record, size_t len,
			struct err *err)
{
	return perf_data_writer_write(o->writer, record, len, err);
}

/* Returns the number of bytes of a sample before its chain: the header, and a word for each of
 * these fields, in the order that <linux/perf_event.h> gives at PERF_RECORD_SAMPLE. */
static size_t bytes_before_chain(uint64_t type)
{
	const uint64_t words = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			       PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

	return sizeof(struct perf_event_header) +
	       sizeof(uint64_t) * (size_t)__builtin_popcountll(type & words);
}

static void perf_data_out_put_word(struct buf *b, uint64_t word)
{
	buf_put(b, &word, sizeof(word));
}

int perf_data_out_sample(struct perf_data_out *o, const struct perf_event_attr *attr,
			 const struct record *rec, const void *bytes,
			 struct perf_data_callers callers, struct err *err)
{
	const struct record_sample *s = &rec->sample;
	struct perf_event_header header;
	struct buf *b = &o->sample;

	b->len = 0;
	buf_put(b, bytes, bytes_before_chain(attr->sample_type));
	perf_data_out_put_word(b, s->nr_chain + callers.nr + (callers.nr ? 1 : 0));
	buf_put(b, s->chain, s->nr_chain * sizeof(uint64_t));
	if (callers.nr)
		perf_data_out_put_word(b, PERF_CONTEXT_USER);
	buf_put(b, callers.at, callers.nr * sizeof(*callers.at));
	if (attr->sample_type & PERF_SAMPLE_CGROUP)
		perf_data_out_put_word(b, s->cgroup);
	if (b->failed)
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(&header, b->data, sizeof(header));
	header.size = (uint16_t)b->len;
	memcpy(b->data, &header, sizeof(header));
	return perf_data_out_write(o, b->data, b->len, err);
}

int perf_data_out_round(struct perf_data_out *o, struct err *err)
{
	int r = perf_data_writer_finished_round(o->writer, err);

	return r ? r : perf_data_writer_flush(o->writer, err);
}

struct perf_data_out_build_ids {
	VEC(struct perf_data_build_id) list;
};

static int collect_build_ids(const struct dict *dict,
			     struct perf_data_out_build_ids *ids)
{
	for (size_t i = 0; i < dict->images.nr; i++) {
		const struct image *image = &dict->images.at[i];
		struct perf_data_build_id entry = {
			.path = dict_str(dict, image->name),
			.id = image->build_id,
			.kernel = image->kind == IMAGE_KERNEL ||
				  image->kind == IMAGE_MODULE,
		};

		if (entry.id.len && !vec_push(&ids->list, entry))
			return -ENOMEM;
	}
	return 0;
}

int perf_data_out_close(struct perf_data_out *o, const struct dict *dict,
			const struct machine *machine, char *const *command,
			int nr_command, struct err *err)
{
	struct perf_data_out_build_ids ids = { 0 };
	struct perf_data_features features = {
		.hostname = machine->hostname,
		.os_release = machine->os_release,
		.version = OPROFILE_VERSION,
		.arch = machine->arch,
		.cpu_desc = machine->cpu_desc,
		.nr_cpus_available = machine->nr_cpus_available,
		.nr_cpus_online = machine->nr_cpus_online,
		.total_mem_kb = machine->total_mem_kb,
		.command = command,
		.nr_command = nr_command,
		.first_ns = o->first_ns,
		.last_ns = o->last_ns,
		.clock_id = CLOCK_MONOTONIC,
		.clock_wall_ns = o->clock_wall_ns,
		.clock_ns = o->clock_ns,
	};
	int r;

	collect_build_ids(dict, &ids);
	features.build_ids = ids.list.at;
	features.nr_build_ids = ids.list.nr;
	r = perf_data_writer_close(o->writer, &features, err);
	vec_done(&ids.list);
	buf_done(&o->sample);
	free(o);
	return r;
}
