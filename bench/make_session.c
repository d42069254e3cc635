/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make_session - writes the same generated samples as a session segment and as a perf.data file,
 * with given numbers of processes, threads, events and CPUs. Each process has IMAGES_PER_PROCESS
 * of the libraries mapped (all if there are few processes), and few functions have most of the
 * samples, as in real programs. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/parse.h"
#include "bench_images.h"
#include "format/perfdata/data.h"
#include "format/session/session.h"

enum {
	MAX_PROCESSES = 40,
	FEW_PROCESSES = 4,
	MAX_THREADS = 64, /* of a process */
	MAX_EVENTS = 5,
	MAX_CPUS = 1024,
	MAX_STEEPNESS = 10,
	MAX_IMAGES = 256,
	IMAGES_PER_PROCESS = 30,
	IMAGE_STEP = 7, /* libraries between the first ones of two processes */
	FIRST_PID = 1000,
	/* The tid of a thread that is not the first of its process: this plus its number. */
	FIRST_TID = 10000,
	RATE_HZ = 9999,
	FLUSH_SAMPLES = 20000, /* samples per flush: about a second of recording */
	ADDRESSES_PER_FUNCTION = 24,
	RECORD_MAX = 4400 /* bytes: an MMAP2 record with its path and trailer */
};

#define PERIOD_NS (1000000000ULL / RATE_HZ)

struct mapping {
	const struct bench_image *image;
	uint32_t dict_image;
	uint64_t start;
};

struct process {
	int32_t pid;
	uint64_t nr_threads;
	uint32_t threads[MAX_THREADS]; /* in the dict */
	struct mapping maps[MAX_IMAGES];
};

/* The events; the samples are spread over the first ones, as many as requested. */
static const struct event_row {
	const char *name;      /* perf's */
	const char *long_name; /* ours */
	uint32_t type;
	uint64_t config;
} event_rows[MAX_EVENTS] = {
	{ "cpu-clock", "TIMER", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "instructions", "instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", "cache-misses", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_MISSES },
	{ "branch-misses", "branch-misses", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_MISSES },
};

struct maker {
	struct dict dict;
	struct segment_writer *segment;
	struct perf_data_writer *perf;
	struct session_totals totals;
	struct bench_image *images;
	size_t nr_images;
	struct process processes[MAX_PROCESSES];
	uint64_t nr_processes;
	uint64_t nr_threads; /* in all processes together */
	uint64_t nr_events;
	uint64_t nr_cpus;
	/* With a larger value, fewer functions and addresses have most of the samples. */
	uint64_t steepness;
	uint32_t events[MAX_EVENTS]; /* in the dict */
	uint64_t now_ns;
	uint64_t seed;
	struct err err;
};

/* The fields of a sample that perf's reader needs. With several events a sample also has an
 * identifier. */
#define SAMPLE_TYPE                                                                    \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |       \
	 PERF_SAMPLE_PERIOD)

/* The trailer that sample_id_all adds, in the kernel's order for SAMPLE_TYPE. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id; /* only with several events */
};

/* The fields of a sample, in the kernel's order for SAMPLE_TYPE; with a single event it begins at
 * `ip`. */
struct sample_body {
	uint64_t id;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t period;
};

static void check(struct maker *m, int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "make_session: %s\n",
		m->err.text[0] ? m->err.text : strerror(-r));
	exit(1);
}

static uint32_t check_number(uint32_t number)
{
	if (number == DICT_NONE) {
		fprintf(stderr, "make_session: no memory\n");
		exit(1);
	}
	return number;
}

static uint32_t random_below(struct maker *m, uint32_t limit)
{
	m->seed = m->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((m->seed >> 33) % limit);
}

/* Returns a random number below `limit`. It is a product of `nr_factors` uniform fractions, so
 * that small numbers are frequent and large ones rare. */
static size_t steep_below(struct maker *m, uint64_t nr_factors, size_t limit)
{
	uint64_t product = 1 << 16;

	for (uint64_t i = 0; i < nr_factors; i++)
		product = product * random_below(m, 1 << 16) >> 16;
	return (size_t)(product * limit >> 16);
}

static size_t skewed_below(struct maker *m, size_t limit)
{
	return steep_below(m, 2, limit);
}

/* Writes a record: the head, the body, the string (if not empty, padded to 8 bytes) and the
 * trailer. */
static void write_record(struct maker *m, const struct perf_event_header *head,
			 const void *body, size_t body_len, const char *string,
			 const struct process *p)
{
	uint8_t record[RECORD_MAX] = { 0 };
	struct trailer trailer = { .pid = (uint32_t)p->pid,
				   .tid = (uint32_t)p->pid,
				   .time_ns = m->now_ns,
				   .id = 1 };
	size_t trailer_len =
		m->nr_events > 1 ? sizeof(trailer) : offsetof(struct trailer, id);
	size_t string_len = *string ? (strlen(string) + 8) & ~(size_t)7 : 0;
	size_t at = sizeof(*head);
	struct perf_event_header header = *head;

	if (at + body_len + string_len + trailer_len > sizeof(record))
		check(m, err_set(&m->err, -ENAMETOOLONG, "path too long: %s", string));
	memcpy(record + at, body, body_len);
	at += body_len;
	if (string_len)
		memcpy(record + at, string, strlen(string) + 1);
	at += string_len;
	memcpy(record + at, &trailer, trailer_len);
	at += trailer_len;
	header.size = (uint16_t)at;
	memcpy(record, &header, sizeof(header));
	check(m, perf_data_writer_write(m->perf, record, at, &m->err));
}

static void write_comm(struct maker *m, const struct process *p, const char *comm)
{
	struct perf_event_header head = { .type = PERF_RECORD_COMM,
					  .misc = PERF_RECORD_MISC_COMM_EXEC };
	uint32_t body[2] = { (uint32_t)p->pid, (uint32_t)p->pid };

	write_record(m, &head, body, sizeof(body), comm, p);
}

static void write_fork(struct maker *m, const struct process *p, uint32_t tid)
{
	struct perf_event_header head = { .type = PERF_RECORD_FORK };
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time_ns;
	} body = { (uint32_t)p->pid, (uint32_t)p->pid, tid, (uint32_t)p->pid,
		   m->now_ns };

	write_record(m, &head, &body, sizeof(body), "", p);
}

static void write_mmap(struct maker *m, const struct process *p,
		       const struct mapping *map)
{
	struct perf_event_header head = { .type = PERF_RECORD_MMAP2,
					  .misc = PERF_RECORD_MISC_USER |
						  PERF_RECORD_MISC_MMAP_BUILD_ID };
	struct {
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		uint8_t id_len, reserved[3];
		uint8_t id[BUILD_ID_MAX];
		uint32_t prot, flags;
	} body = { .pid = (uint32_t)p->pid,
		   .tid = (uint32_t)p->pid,
		   .start = map->start,
		   .len = map->image->text_len,
		   .pgoff = map->image->text_off,
		   .id_len = map->image->build_id.len,
		   .prot = PROT_READ | PROT_EXEC,
		   .flags = MAP_PRIVATE };

	memcpy(body.id, map->image->build_id.bytes, BUILD_ID_MAX);
	write_record(m, &head, &body, sizeof(body), map->image->path, p);
}

/* Returns the number of libraries of each process: if there are only a few processes, all
 * libraries. */
static uint32_t nr_maps(const struct maker *m)
{
	if (m->nr_processes > FEW_PROCESSES)
		return IMAGES_PER_PROCESS;
	return m->nr_images < MAX_IMAGES ? (uint32_t)m->nr_images : MAX_IMAGES;
}

/* Adds the threads of a process: its share of all threads. The tid of the first one is the pid. */
static void add_threads(struct maker *m, struct process *p, uint64_t number,
			const char *comm)
{
	struct thread thread = { .pid = p->pid, .ns_pid = p->pid };

	thread.comm = check_number(dict_string(&m->dict, comm));
	thread.app = p->maps[0].dict_image;
	thread.cgroup = check_number(dict_string(&m->dict, ""));
	for (uint64_t i = number; i < m->nr_threads && p->nr_threads < MAX_THREADS;
	     i += m->nr_processes) {
		thread.tid = i == number ? p->pid : FIRST_TID + (int32_t)i;
		thread.ns_tid = thread.tid;
		if (thread.tid != p->pid)
			write_fork(m, p, (uint32_t)thread.tid);
		p->threads[p->nr_threads++] =
			check_number(dict_thread(&m->dict, &thread));
	}
}

static void add_process(struct maker *m, int number)
{
	struct process *p = &m->processes[number];
	size_t per_process = m->nr_images / m->nr_processes + 1;
	size_t step = per_process > IMAGE_STEP ? per_process : IMAGE_STEP;
	char comm[16];

	p->pid = FIRST_PID + number;
	snprintf(comm, sizeof(comm), "program-%02d", number % 16);
	write_comm(m, p, comm);
	for (uint32_t i = 0; i < nr_maps(m); i++) {
		struct mapping *map = &p->maps[i];
		struct image image = { .kind = IMAGE_FILE };

		/* Each process has different libraries, and each library is used by some
		 * process. */
		map->image =
			&m->images[((size_t)number * step + (size_t)i) % m->nr_images];
		map->start = 0x7f0000000000 + ((uint64_t)number << 32) +
			     (uint64_t)i * 0x1000000 + random_below(m, 2048) * 4096ULL;
		image.name = check_number(dict_string(&m->dict, map->image->path));
		image.build_id = map->image->build_id;
		map->dict_image = check_number(dict_image(&m->dict, &image));
		write_mmap(m, p, map);
	}
	add_threads(m, p, (uint64_t)number, comm);
}

static void write_sample(struct maker *m, const struct sample_body *body)
{
	size_t skip = m->nr_events > 1 ? 0 : offsetof(struct sample_body, ip);
	size_t len = sizeof(*body) - skip;
	struct perf_event_header header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
					    (uint16_t)(sizeof(header) + len) };

	check(m, perf_data_writer_write(m->perf, &header, sizeof(header), &m->err));
	check(m, perf_data_writer_write(m->perf, (const uint8_t *)body + skip, len,
					&m->err));
}

static void add_sample(struct maker *m, uint32_t cpu)
{
	const struct process *p =
		&m->processes[skewed_below(m, (uint32_t)m->nr_processes)];
	const struct mapping *map = &p->maps[skewed_below(m, nr_maps(m))];
	const struct bench_function *function = &map->image->functions[steep_below(
		m, m->steepness, map->image->nr_functions)];
	uint64_t step = function->size / ADDRESSES_PER_FUNCTION + 1;
	size_t position = steep_below(m, m->steepness, ADDRESSES_PER_FUNCTION);
	uint64_t offset = function->file_off + position * step % function->size;
	size_t event = skewed_below(m, m->nr_events);
	uint32_t thread = p->threads[skewed_below(m, p->nr_threads)];
	struct sample_body body = { .id = event + 1,
				    .ip = map->start + offset - map->image->text_off,
				    .pid = (uint32_t)p->pid,
				    .tid = (uint32_t)m->dict.threads.at[thread].tid,
				    .time_ns = m->now_ns,
				    .cpu = cpu,
				    .period = PERIOD_NS };
	struct sample sample = { .time_ns = m->now_ns,
				 .period = PERIOD_NS,
				 .thread = thread,
				 .event = m->events[event],
				 .cpu = cpu };
	uint32_t frame = check_number(dict_frame(&m->dict, map->dict_image, offset));

	sample.stack = check_number(dict_stack(&m->dict, STACK_ROOT, frame));
	check(m, segment_writer_add(m->segment, &sample));
	write_sample(m, &body);
	m->totals.samples++;
}

/* Describes an event for both formats. *id becomes the identifier in its samples; *ret_event
 * borrows `attr` and `id`. */
static void describe_event(struct maker *m, size_t number, struct perf_event_attr *attr,
			   uint64_t *id, struct perf_data_event *ret_event)
{
	const struct event_row *row = &event_rows[number];
	struct event_desc desc = { .type = row->type,
				   .config = row->config,
				   .flags = EVENT_USER | EVENT_KERNEL,
				   .frequency_hz = RATE_HZ };

	*attr = (struct perf_event_attr){ .type = row->type,
					  .size = sizeof(*attr),
					  .config = row->config,
					  .sample_freq = RATE_HZ,
					  .freq = 1,
					  .sample_type = SAMPLE_TYPE,
					  .mmap = number == 0,
					  .mmap2 = number == 0,
					  .comm = number == 0,
					  .comm_exec = number == 0,
					  .build_id = number == 0,
					  .sample_id_all = 1,
					  .use_clockid = 1,
					  .clockid = 1 };
	if (m->nr_events > 1)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (number == 0)
		desc.flags |= EVENT_TIMER;
	desc.name = check_number(dict_string(&m->dict, row->long_name));
	desc.about = check_number(dict_string(&m->dict, "made up"));
	m->events[number] = check_number(dict_event(&m->dict, &desc));
	*id = number + 1;
	*ret_event = (struct perf_data_event){ attr, row->name, id, 1 };
}

static void open_outputs(struct maker *m, const char *segment, const char *perf)
{
	struct perf_event_attr attrs[MAX_EVENTS];
	struct perf_data_event events[MAX_EVENTS];
	uint64_t ids[MAX_EVENTS];
	struct session_info info = { .tool_version = "bench",
				     .hostname = "bench",
				     .os_release = "0",
				     .machine = "x86_64",
				     .cpu_desc = "made up",
				     .boot_id = "",
				     .command = "make_session",
				     .vmlinux = "",
				     .nr_cpus_online = (uint32_t)m->nr_cpus,
				     .clock_id = 1,
				     .start_ns = m->now_ns,
				     .flags = SESSION_SYSTEM_WIDE | SESSION_64BIT };

	check(m, dict_init(&m->dict));
	for (size_t i = 0; i < m->nr_events; i++)
		describe_event(m, i, &attrs[i], &ids[i], &events[i]);
	check(m, segment_writer_open(segment, &info, &m->dict, &m->segment, &m->err));
	check(m, perf_data_writer_open(perf, events, m->nr_events, &m->perf, &m->err));
}

static void make_samples(struct maker *m, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		if (i % m->nr_cpus == 0)
			m->now_ns += PERIOD_NS;
		m->now_ns += random_below(m, 500);
		add_sample(m, (uint32_t)(i % m->nr_cpus));
		if (i % FLUSH_SAMPLES == FLUSH_SAMPLES - 1) {
			check(m, segment_writer_flush(m->segment, &m->totals, &m->err));
			check(m, perf_data_writer_finished_round(m->perf, &m->err));
		}
	}
}

static void close_outputs(struct maker *m, uint64_t begin_ns)
{
	struct perf_data_features features = { .hostname = "bench",
					       .os_release = "0",
					       .version = "0",
					       .arch = "x86_64",
					       .first_ns = begin_ns,
					       .last_ns = m->now_ns,
					       .clock_id = -1 };

	m->totals.end_ns = m->now_ns;
	m->totals.target_status = -1;
	m->totals.finished = true;
	check(m, segment_writer_close(m->segment, &m->totals, &m->err));
	check(m, perf_data_writer_close(m->perf, &features, &m->err));
	dict_done(&m->dict);
}

static bool parse_limited(const char *text, uint64_t max, uint64_t *ret_number)
{
	return parse_u64_max(text, max, ret_number) && *ret_number > 0;
}

static bool parse_arguments(struct maker *m, int argc, char **argv, uint64_t *ret_nr)
{
	bool good = true;
	int letter;

	m->nr_events = 1;
	m->nr_cpus = 2;
	m->steepness = 2;
	while ((letter = getopt(argc, argv, "+t:e:c:s:")) != -1) {
		if (letter == 't')
			good &= parse_limited(optarg, MAX_PROCESSES * MAX_THREADS,
					      &m->nr_threads);
		else if (letter == 'e')
			good &= parse_limited(optarg, MAX_EVENTS, &m->nr_events);
		else if (letter == 's')
			good &= parse_limited(optarg, MAX_STEEPNESS, &m->steepness);
		else
			good &= letter == 'c' &&
				parse_limited(optarg, MAX_CPUS, &m->nr_cpus);
	}
	if (argc - optind < 5 || !good || !parse_u64(argv[optind], ret_nr) ||
	    !parse_limited(argv[optind + 1], MAX_PROCESSES, &m->nr_processes))
		return false;
	if (m->nr_threads < m->nr_processes)
		m->nr_threads = m->nr_processes;
	return true;
}

int main(int argc, char **argv)
{
	static struct maker m = { .now_ns = 1000000000000, .seed = 1 };
	uint64_t nr, begin_ns = m.now_ns;

	if (!parse_arguments(&m, argc, argv, &nr)) {
		fprintf(stderr, "usage: make_session [-t THREADS] [-e EVENTS] [-c "
				"CPUS] [-s STEEPNESS] NR "
				"PROCESSES SEGMENT PERF_DATA LIBRARY...\n");
		return 2;
	}
	argv += optind;
	m.nr_images = (size_t)(argc - optind - 4);
	m.images = calloc(m.nr_images, sizeof(*m.images));
	if (!m.images)
		return 1;
	for (size_t i = 0; i < m.nr_images; i++)
		bench_image_load(argv[4 + i], &m.images[i]);
	open_outputs(&m, argv[2], argv[3]);
	for (int i = 0; i < (int)m.nr_processes; i++)
		add_process(&m, i);
	make_samples(&m, nr);
	close_outputs(&m, begin_ns);
	for (size_t i = 0; i < m.nr_images; i++)
		bench_image_done(&m.images[i]);
	free(m.images);
	return 0;
}
