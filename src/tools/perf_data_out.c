#include "tools/perf_data_out.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/events.h"
#include "capture/machine.h"
#include "capture/perf_source.h"
#include "format/perf_data.h"

struct perf_data_out {
	struct perf_data_writer *writer;
	uint64_t clock_ns;
	uint64_t clock_wall_ns;
	uint64_t first_ns; /* of the samples; 0: none yet */
	uint64_t last_ns;
};

static uint64_t clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* perf knows no TIMER. */
static const char *perf_name(const struct event_request *e)
{
	return e->timer ? "cpu-clock" : e->name;
}

int perf_data_out_open(const char *path, const struct perf_source *source,
		       const struct event_request *events, size_t nr_events,
		       struct perf_data_out **ret_out, struct err *err)
{
	size_t nr_attrs = perf_source_nr_attrs(source);
	struct perf_data_event *list = calloc(nr_attrs, sizeof(*list));
	struct perf_data_out *o = calloc(1, sizeof(*o));
	int r = -ENOMEM;

	if (!list || !o)
		goto out;
	for (size_t i = 0; i < nr_attrs; i++) {
		list[i].attr = perf_source_attr(source, i);
		list[i].name = i < nr_events ? perf_name(&events[i]) : "dummy:u";
		list[i].ids = perf_source_ids(source, i, &list[i].nr_ids);
	}
	o->clock_ns = clock_now(CLOCK_MONOTONIC);
	o->clock_wall_ns = clock_now(CLOCK_REALTIME);
	r = perf_data_writer_open(path, list, nr_attrs, &o->writer, err);
	if (!r)
		*ret_out = o;
out:
	free(list);
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

int perf_data_out_round(struct perf_data_out *o, struct err *err)
{
	int r = perf_data_writer_finished_round(o->writer, err);

	return r ? r : perf_data_writer_flush(o->writer, err);
}

struct build_ids {
	VEC(struct perf_data_build_id) list;
};

static int collect_build_ids(const struct dict *dict, struct build_ids *ids)
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
	struct build_ids ids = { 0 };
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
	free(o);
	return r;
}
