/* make_session NR SEGMENT PERF_DATA LIBRARY... - the same made-up samples as a session
 * segment and as a perf.data: NR samples of so many processes on two CPUs, each with
 * IMAGES_PER_PROCESS of the libraries mapped (all, if there are few processes), where few
 * functions get most of the samples as in real programs. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/parse.h"
#include "bench_images.h"
#include "format/perf_data.h"
#include "format/session.h"

enum {
	MAX_PROCESSES = 40,
	FEW_PROCESSES = 4,
	MAX_IMAGES = 256,
	IMAGES_PER_PROCESS = 30,
	NR_CPUS = 2,
	FIRST_PID = 1000,
	RATE_HZ = 9999,
	FLUSH_SAMPLES = 20000, /* about a second of recording */
	ADDRESSES_PER_FUNCTION = 24,
	RECORD_MAX = 4400 /* an MMAP2 record with its path and trailer */
};

#define PERIOD_NS (1000000000ULL / RATE_HZ)

struct mapping {
	const struct bench_image *image;
	uint32_t dict_image;
	uint64_t start;
};

struct process {
	int32_t pid;
	uint32_t thread; /* in the dict */
	struct mapping maps[MAX_IMAGES];
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
	uint32_t event;
	uint64_t now_ns;
	uint64_t seed;
	struct err err;
};

/* The trailer that sample_id_all adds, in the kernel's order for SAMPLE_TYPE. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

#define SAMPLE_TYPE                                                                    \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |       \
	 PERF_SAMPLE_PERIOD)

struct sample_record {
	struct perf_event_header header;
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

/* Small numbers often, large ones seldom: the product of two uniform fractions. */
static size_t skewed_below(struct maker *m, size_t limit)
{
	uint64_t a = random_below(m, 1 << 16), b = random_below(m, 1 << 16);

	return (size_t)((a * b >> 16) * limit >> 16);
}

/* A record with the string behind `fixed` (its size) and the trailer; 8-byte steps. */
static void write_record(struct maker *m, const struct perf_event_header *head,
			 const void *body, size_t body_len, const char *string,
			 const struct process *p)
{
	uint8_t record[RECORD_MAX] = { 0 };
	struct trailer trailer = { (uint32_t)p->pid, (uint32_t)p->pid, m->now_ns, 0,
				   0 };
	size_t string_len = (strlen(string) + 8) & ~(size_t)7;
	size_t at = sizeof(*head);
	struct perf_event_header header = *head;

	if (at + body_len + string_len + sizeof(trailer) > sizeof(record))
		check(m, err_set(&m->err, -ENAMETOOLONG, "path too long: %s", string));
	memcpy(record + at, body, body_len);
	at += body_len;
	memcpy(record + at, string, strlen(string));
	at += string_len;
	memcpy(record + at, &trailer, sizeof(trailer));
	at += sizeof(trailer);
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

/* A few programs use all libraries, many ones some each. */
static uint32_t nr_maps(const struct maker *m)
{
	if (m->nr_processes > FEW_PROCESSES)
		return IMAGES_PER_PROCESS;
	return m->nr_images < MAX_IMAGES ? (uint32_t)m->nr_images : MAX_IMAGES;
}

static void add_process(struct maker *m, int number)
{
	struct process *p = &m->processes[number];
	struct thread thread = { 0 };
	char comm[16];

	p->pid = FIRST_PID + number;
	snprintf(comm, sizeof(comm), "program-%02d", number % 16);
	write_comm(m, p, comm);
	for (uint32_t i = 0; i < nr_maps(m); i++) {
		struct mapping *map = &p->maps[i];
		struct image image = { .kind = IMAGE_FILE };

		/* Each process has other libraries, and all are used by some. */
		map->image =
			&m->images[((size_t)number * 7 + (size_t)i) % m->nr_images];
		map->start = 0x7f0000000000 + ((uint64_t)number << 32) +
			     (uint64_t)i * 0x1000000 + random_below(m, 2048) * 4096ULL;
		image.name = check_number(dict_string(&m->dict, map->image->path));
		image.build_id = map->image->build_id;
		map->dict_image = check_number(dict_image(&m->dict, &image));
		write_mmap(m, p, map);
	}
	thread.pid = thread.tid = thread.ns_pid = thread.ns_tid = p->pid;
	thread.comm = check_number(dict_string(&m->dict, comm));
	thread.app = p->maps[0].dict_image;
	thread.cgroup = check_number(dict_string(&m->dict, ""));
	p->thread = check_number(dict_thread(&m->dict, &thread));
}

static void add_sample(struct maker *m, uint32_t cpu)
{
	const struct process *p =
		&m->processes[skewed_below(m, (uint32_t)m->nr_processes)];
	const struct mapping *map = &p->maps[skewed_below(m, nr_maps(m))];
	const struct bench_function *function =
		&map->image->functions[skewed_below(m, map->image->nr_functions)];
	uint64_t step = function->size / ADDRESSES_PER_FUNCTION + 1;
	uint64_t offset = function->file_off + skewed_below(m, ADDRESSES_PER_FUNCTION) *
						       step % function->size;
	struct sample_record record = {
		.header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(record) },
		.ip = map->start + offset - map->image->text_off,
		.pid = (uint32_t)p->pid,
		.tid = (uint32_t)p->pid,
		.time_ns = m->now_ns,
		.cpu = cpu,
		.period = PERIOD_NS
	};
	struct sample sample = { .time_ns = m->now_ns,
				 .period = PERIOD_NS,
				 .thread = p->thread,
				 .event = m->event,
				 .cpu = cpu };
	uint32_t frame = check_number(dict_frame(&m->dict, map->dict_image, offset));

	sample.stack = check_number(dict_stack(&m->dict, STACK_ROOT, frame));
	check(m, segment_writer_add(m->segment, &sample));
	check(m, perf_data_writer_write(m->perf, &record, sizeof(record), &m->err));
	m->totals.samples++;
}

static void open_outputs(struct maker *m, const char *segment, const char *perf)
{
	static const uint64_t ids[] = { 1 };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_freq = RATE_HZ,
					.freq = 1,
					.sample_type = SAMPLE_TYPE,
					.mmap = 1,
					.mmap2 = 1,
					.comm = 1,
					.comm_exec = 1,
					.build_id = 1,
					.sample_id_all = 1,
					.use_clockid = 1,
					.clockid = 1 };
	struct perf_data_event event = { &attr, "cpu-clock", ids, 1 };
	struct event_desc desc = { .type = attr.type,
				   .config = attr.config,
				   .flags = EVENT_USER | EVENT_KERNEL | EVENT_TIMER,
				   .frequency_hz = RATE_HZ };
	struct session_info info = { .tool_version = "bench",
				     .hostname = "bench",
				     .os_release = "0",
				     .machine = "x86_64",
				     .cpu_desc = "made up",
				     .boot_id = "",
				     .command = "make_session",
				     .vmlinux = "",
				     .nr_cpus_online = NR_CPUS,
				     .clock_id = 1,
				     .start_ns = m->now_ns,
				     .flags = SESSION_SYSTEM_WIDE | SESSION_64BIT };

	check(m, dict_init(&m->dict));
	desc.name = check_number(dict_string(&m->dict, "TIMER"));
	desc.about = check_number(dict_string(&m->dict, "made up"));
	m->event = check_number(dict_event(&m->dict, &desc));
	check(m, segment_writer_open(segment, &info, &m->dict, &m->segment, &m->err));
	check(m, perf_data_writer_open(perf, &event, 1, &m->perf, &m->err));
}

static void make_samples(struct maker *m, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		if (i % NR_CPUS == 0)
			m->now_ns += PERIOD_NS;
		m->now_ns += random_below(m, 500);
		add_sample(m, (uint32_t)(i % NR_CPUS));
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

int main(int argc, char **argv)
{
	static struct maker m = { .now_ns = 1000000000000, .seed = 1 };
	uint64_t nr, begin_ns = m.now_ns;

	if (argc < 6 || !parse_u64(argv[1], &nr) ||
	    !parse_u64_max(argv[2], MAX_PROCESSES, &m.nr_processes) ||
	    !m.nr_processes) {
		fprintf(stderr, "usage: make_session NR PROCESSES SEGMENT PERF_DATA "
				"LIBRARY...\n");
		return 2;
	}
	m.nr_images = (size_t)(argc - 5);
	m.images = calloc(m.nr_images, sizeof(*m.images));
	if (!m.images)
		return 1;
	for (size_t i = 0; i < m.nr_images; i++)
		bench_image_load(argv[5 + i], &m.images[i]);
	open_outputs(&m, argv[3], argv[4]);
	for (int i = 0; i < (int)m.nr_processes; i++)
		add_process(&m, i);
	make_samples(&m, nr);
	close_outputs(&m, begin_ns);
	for (size_t i = 0; i < m.nr_images; i++)
		bench_image_done(&m.images[i]);
	free(m.images);
	return 0;
}
