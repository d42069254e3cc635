/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make_perf_data OUT MEGABYTES KIND LIBRARY... - writes a large perf.data like that of a build
 * machine. KIND is flat, chains (up to 40 callers) or stacks (8 KB of user stack per sample). Most
 * samples are from long-lived programs; short-lived programs start and end all the time, so that
 * side-band records are everywhere. Each round has the records of one CPU after those of another,
 * as perf writes its ring buffers. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/parse.h"
#include "bench_images.h"
#include "format/perfdata/data.h"

enum {
	NR_PROGRAMS = 24,
	NR_SHORT = 8, /* number of short-lived programs that run at the same time */
	NR_CPUS = 4,
	IMAGES_PER_PROGRAM = 20,
	MAX_IMAGES = 256,
	STACKS_PER_PROGRAM = 4000,
	SHORT_STACKS = 200, /* of a short-lived one */
	ADDRESSES_PER_FUNCTION = 24,
	KERNEL_ADDRESSES = 20000,
	MAX_CHAIN = 40,
	STACK_BYTES = 8192,
	REGS_MASK = 0xff0fff, /* registers that perf requests on x86-64 */
	ROUND_SAMPLES = 1024,
	SHORT_LIFE_ROUNDS = 3,
	RATE_HZ = 4999,
	FIRST_PID = 1000,
	RECORD_MAX = STACK_BYTES + 4096
};

static const uint64_t kernel_start = 0xffffffff81000000, kernel_len = 0x1400000;

struct mapping {
	const struct bench_image *image;
	uint64_t start;
};

struct chain {
	uint32_t nr;
	uint64_t ips[MAX_CHAIN];
};

struct program {
	int32_t pid;
	struct mapping maps[IMAGES_PER_PROGRAM];
	struct chain *chains;
	uint32_t nr_chains;
};

struct maker {
	struct perf_data_writer *perf;
	struct bench_image images[MAX_IMAGES];
	size_t nr_images;
	struct program programs[NR_PROGRAMS + NR_SHORT];
	int32_t next_pid;
	bool chains, stacks;
	uint64_t now_ns;
	uint64_t seed;
	size_t nr_samples;
	uint8_t record[RECORD_MAX];
	size_t len;
	struct err err;
};

static void check(struct maker *m, int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "make_perf_data: %s\n",
		m->err.text[0] ? m->err.text : strerror(-r));
	exit(1);
}

static uint64_t random_below(struct maker *m, uint64_t limit)
{
	m->seed = m->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (m->seed >> 33) % limit;
}

/* Returns a random number below `limit`: small numbers are frequent, large ones rare. */
static uint64_t skewed_below(struct maker *m, uint64_t limit)
{
	return random_below(m, 1 << 16) * random_below(m, 1 << 16) * limit >> 32;
}

static void begin(struct maker *m, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	memcpy(m->record, &h, sizeof(h));
	m->len = sizeof(h);
}

static void put(struct maker *m, const void *bytes, size_t len)
{
	memcpy(m->record + m->len, bytes, len);
	m->len += len;
}

static void put_u64(struct maker *m, uint64_t v)
{
	put(m, &v, sizeof(v));
}

static void put_pair(struct maker *m, uint32_t a, uint32_t b)
{
	put(m, &a, sizeof(a));
	put(m, &b, sizeof(b));
}

static void put_string(struct maker *m, const char *s)
{
	size_t len = strlen(s) + 1;

	put(m, s, len);
	for (; len % 8; len++)
		m->record[m->len++] = 0;
}

static void end(struct maker *m)
{
	uint16_t size = (uint16_t)m->len;

	memcpy(m->record + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
	check(m, perf_data_writer_write(m->perf, m->record, m->len, &m->err));
}

/* Ends a side-band record with the fields of sample_id_all: TID, TIME, CPU. */
static void end_side_band(struct maker *m, int32_t pid, uint64_t time_ns)
{
	put_pair(m, (uint32_t)pid, (uint32_t)pid);
	put_u64(m, time_ns);
	put_pair(m, 0, 0);
	end(m);
}

static void write_kernel(struct maker *m)
{
	begin(m, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	put_pair(m, UINT32_MAX, 0);
	put_u64(m, kernel_start);
	put_u64(m, kernel_len);
	put_u64(m, kernel_start);
	put_string(m, "[kernel.kallsyms]_text");
	end_side_band(m, -1, 0);
}

static void write_map(struct maker *m, const struct program *p,
		      const struct mapping *map, uint64_t time_ns)
{
	const struct bench_image *image = map->image;

	begin(m, PERF_RECORD_MMAP2,
	      PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_pair(m, (uint32_t)p->pid, (uint32_t)p->pid);
	put_u64(m, map->start);
	put_u64(m, image->text_len);
	put_u64(m, image->text_off);
	put(m, (uint8_t[4]){ image->build_id.len }, 4);
	put(m, image->build_id.bytes, BUILD_ID_MAX);
	put_pair(m, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	put_string(m, image->path);
	end_side_band(m, p->pid, time_ns);
}

static void write_comm(struct maker *m, const struct program *p, size_t number,
		       uint64_t time_ns)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "program-%02zu", number);
	begin(m, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_pair(m, (uint32_t)p->pid, (uint32_t)p->pid);
	put_string(m, comm);
	end_side_band(m, p->pid, time_ns);
}

static void write_task(struct maker *m, uint32_t type, int32_t pid, uint64_t time_ns)
{
	begin(m, type, 0);
	put_pair(m, (uint32_t)pid, FIRST_PID);
	put_pair(m, (uint32_t)pid, FIRST_PID);
	put_u64(m, time_ns);
	end_side_band(m, pid, time_ns);
}

static uint64_t random_ip(struct maker *m, const struct program *p)
{
	const struct mapping *map = &p->maps[skewed_below(m, IMAGES_PER_PROGRAM)];
	const struct bench_function *f =
		&map->image->functions[skewed_below(m, map->image->nr_functions)];
	uint64_t step = f->size / ADDRESSES_PER_FUNCTION + 1;

	return map->start + f->file_off - map->image->text_off +
	       skewed_below(m, ADDRESSES_PER_FUNCTION) * step % f->size;
}

static void make_chains(struct maker *m, struct program *p, uint32_t nr)
{
	if (!p->chains)
		p->chains = calloc(nr, sizeof(*p->chains));
	if (!p->chains)
		check(m, -ENOMEM);
	p->nr_chains = nr;
	for (size_t i = 0; i < nr; i++) {
		struct chain *c = &p->chains[i];
		const struct chain *like = i ? &p->chains[random_below(m, i)] : c;
		uint32_t shared = i ? (uint32_t)random_below(m, like->nr) : 0;

		/* Chains share callers: this one begins with the outer part of an earlier chain. */
		c->nr = 4 + (uint32_t)random_below(m, MAX_CHAIN - 4);
		for (uint32_t k = 0; k < c->nr; k++)
			c->ips[c->nr - 1 - k] = k < shared ? like->ips[like->nr - 1 - k]
							   : random_ip(m, p);
	}
}

static void start_program(struct maker *m, size_t number, uint64_t time_ns)
{
	struct program *p = &m->programs[number];
	bool is_short = number >= NR_PROGRAMS;

	p->pid = m->next_pid++;
	for (size_t i = 0; i < IMAGES_PER_PROGRAM; i++) {
		p->maps[i].image = &m->images[(number * 7 + i) % m->nr_images];
		p->maps[i].start =
			0x7f0000000000 + i * 0x10000000 + random_below(m, 4096) * 4096;
	}
	if (m->chains)
		make_chains(m, p, is_short ? SHORT_STACKS : STACKS_PER_PROGRAM);
	if (is_short)
		write_task(m, PERF_RECORD_FORK, p->pid, time_ns);
	write_comm(m, p, number, time_ns);
	for (size_t i = 0; i < IMAGES_PER_PROGRAM; i++)
		write_map(m, p, &p->maps[i], time_ns);
}

static void put_chain(struct maker *m, const struct chain *chain, uint64_t ip,
		      bool kernel)
{
	put_u64(m, chain->nr + 1 + (kernel ? 3 : 0));
	if (kernel) {
		put_u64(m, PERF_CONTEXT_KERNEL);
		put_u64(m, ip);
		put_u64(m, kernel_start + 0x1000 + ip % 64 * 256);
	}
	put_u64(m, PERF_CONTEXT_USER);
	put(m, chain->ips, chain->nr * sizeof(*chain->ips));
}

static void put_stack(struct maker *m)
{
	put_u64(m, PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < __builtin_popcountll(REGS_MASK); i++)
		put_u64(m, m->seed + (uint64_t)i);
	put_u64(m, STACK_BYTES);
	memset(m->record + m->len, 0x41, STACK_BYTES);
	m->len += STACK_BYTES;
	put_u64(m, STACK_BYTES / 2);
}

static void write_sample(struct maker *m, uint32_t cpu, uint64_t time_ns)
{
	size_t number = random_below(m, 10) ? skewed_below(m, NR_PROGRAMS)
					    : NR_PROGRAMS + random_below(m, NR_SHORT);
	const struct program *p = &m->programs[number];
	const struct chain *chain =
		p->chains ? &p->chains[skewed_below(m, p->nr_chains)] : NULL;
	bool kernel = !random_below(m, 4);
	uint64_t ip = kernel ? kernel_start + skewed_below(m, KERNEL_ADDRESSES) *
						      (kernel_len / KERNEL_ADDRESSES)
		      : chain ? chain->ips[0]
			      : random_ip(m, p);

	begin(m, PERF_RECORD_SAMPLE,
	      kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	put_u64(m, ip);
	put_pair(m, (uint32_t)p->pid, (uint32_t)p->pid);
	put_u64(m, time_ns);
	put_pair(m, cpu, 0);
	put_u64(m, 1000000000 / RATE_HZ);
	if (m->chains)
		put_chain(m, chain, ip, kernel);
	if (m->stacks)
		put_stack(m);
	end(m);
	m->nr_samples++;
}

static void write_round(struct maker *m, uint64_t round)
{
	uint64_t step_ns = 1000000000ULL / RATE_HZ;

	if (round % SHORT_LIFE_ROUNDS == 0) {
		size_t number = NR_PROGRAMS + round / SHORT_LIFE_ROUNDS % NR_SHORT;

		if (m->programs[number].pid)
			write_task(m, PERF_RECORD_EXIT, m->programs[number].pid,
				   m->now_ns);
		start_program(m, number, m->now_ns);
	}
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		for (uint64_t i = 1; i <= ROUND_SAMPLES / NR_CPUS; i++)
			write_sample(m, cpu, m->now_ns + i * step_ns + cpu * 1000);
	m->now_ns += ROUND_SAMPLES / NR_CPUS * step_ns;
	check(m, perf_data_writer_finished_round(m->perf, &m->err));
}

static void open_writer(struct maker *m, const char *path)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = RATE_HZ,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
	};
	uint64_t id = 1;
	struct perf_data_event event = { &attr, "cpu-clock", &id, 1 };

	if (m->chains)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (m->stacks) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = REGS_MASK;
		attr.sample_stack_user = STACK_BYTES;
	}
	check(m, perf_data_writer_open(path, &event, 1, &m->perf, &m->err));
}

int main(int argc, char **argv)
{
	static struct maker m = { .next_pid = FIRST_PID, .now_ns = 1000000000000 };
	struct perf_data_features features = { .hostname = "bench",
					       .os_release = "6.1",
					       .arch = "x86_64",
					       .clock_id = -1 };
	uint64_t megabytes, round = 0;

	if (argc < 5 || !parse_u64(argv[2], &megabytes)) {
		fprintf(stderr, "usage: make_perf_data OUT MEGABYTES "
				"flat|chains|stacks LIBRARY...\n");
		return 2;
	}
	m.chains = !strcmp(argv[3], "chains");
	m.stacks = !strcmp(argv[3], "stacks");
	for (int i = 4; i < argc && m.nr_images < MAX_IMAGES; i++) {
		bench_image_load(argv[i], &m.images[m.nr_images]);
		m.nr_images += m.images[m.nr_images].nr_functions != 0;
	}
	open_writer(&m, argv[1]);
	write_kernel(&m);
	for (size_t i = 0; i < NR_PROGRAMS + NR_SHORT; i++)
		start_program(&m, i, 0);
	features.first_ns = m.now_ns;
	while (perf_data_writer_bytes(m.perf) < megabytes << 20)
		write_round(&m, round++);
	features.last_ns = m.now_ns;
	check(&m, perf_data_writer_close(m.perf, &features, &m.err));
	printf("%zu samples\n", m.nr_samples);
	return 0;
}
