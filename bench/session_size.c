/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_size - measures the session format: the bytes per sample of a real recording, the cost
 * of writing it, and the cost of reading 10 million samples.
 *
 *   session_size size SAMPLES.txt OUT   one line per sample: cpu pid tid period time_ns comm
 *                                       truncated nr_frames (image offset)..., leaf first
 *                                       (bench/perf-to-samples.py makes it from a perf.data)
 *   session_size speed OUT              10 M samples over 100 images
 * The program only prints figures; it does not fail if they are bad. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "format/session/session.h"

enum {
	FLUSH_SAMPLES_NS = 1000000000,
	LINE_FRAMES_MAX = 512,
	SPEED_SAMPLES = 10 * 1000 * 1000,
	SPEED_IMAGES = 100,
	SPEED_FRAMES = 100 * 1000,
	CPUS_MAX = 4096
};

static void must(int r, const struct err *err)
{
	if (r < 0) {
		fprintf(stderr, "%s\n", err ? err->text : "out of memory");
		exit(1);
	}
}

static struct segment_writer *open_writer(const char *path, const struct dict *d)
{
	struct session_info info = { "bench", "h",   "r", "m",          "c",
				     "b",     "cmd", "",  .cpu_mhz = 1, .start_ns = 1 };
	struct segment_writer *w;
	struct err err;

	unlink(path);
	must(segment_writer_open(path, &info, d, &w, &err), &err);
	return w;
}

struct one {
	struct sample sample;
	bool used;
};

/* Reads one line into *s, and adds new entries to the dict. Returns false at the end. */
static bool read_line(FILE *in, struct dict *d, struct sample *s, uint32_t images[])
{
	static uint64_t numbers[2 * LINE_FRAMES_MAX];
	unsigned int cpu, cut, nr;
	int pid, tid;
	char comm[64];
	struct thread t = { .app = DICT_NONE };
	uint32_t stack;

	if (fscanf(in, "%u %d %d %" SCNu64 " %" SCNu64 " %63s %u %u", &cpu, &pid, &tid,
		   &s->period, &s->time_ns, comm, &cut, &nr) != 8)
		return false;
	for (unsigned int i = 0; i < 2 * nr; i++)
		if (fscanf(in, "%" SCNu64, &numbers[i]) != 1)
			return false;
	t.pid = t.ns_pid = pid;
	t.tid = t.ns_tid = tid;
	t.comm = dict_string(d, comm);
	t.start_ns =
		hash_u64((uint64_t)pid) % 60000000000; /* as costly as a real one */
	stack = cut ? STACK_TRUNCATED : STACK_ROOT;
	for (unsigned int i = nr; i-- > 0;) {
		uint64_t image = numbers[2 * i];

		if (images[image] == DICT_NONE) {
			struct image new = { .kind = IMAGE_FILE, .inode = image + 1 };
			char name[64];

			snprintf(name, sizeof(name), "/usr/lib/x86_64/lib%" PRIu64,
				 image);
			new.name = dict_string(d, name);
			new.build_id.len = 20;
			memcpy(new.build_id.bytes, &image, sizeof(image));
			images[image] = dict_image(d, &new);
		}
		stack = dict_stack(d, stack,
				   dict_frame(d, images[image], numbers[2 * i + 1]));
	}
	s->thread = dict_thread(d, &t);
	s->event = 0;
	s->stack = stack;
	s->cpu = cpu;
	return true;
}

/* Writes samples as the recorder does: one flush per second, with the samples of each CPU
 * together. `pending` has the order of the input. Returns the CPU time in nanoseconds. */
static uint64_t flush_runs(struct segment_writer *w, const struct sample *pending,
			   size_t nr)
{
	struct session_totals totals = { .samples = 1, .target_status = -1 };
	struct err err;
	uint64_t begin = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	unsigned int max_cpu = 0;

	for (size_t i = 0; i < nr; i++)
		max_cpu = pending[i].cpu > max_cpu ? pending[i].cpu : max_cpu;
	for (unsigned int cpu = 0; cpu <= max_cpu && cpu < CPUS_MAX; cpu++)
		for (size_t i = 0; i < nr; i++)
			if (pending[i].cpu == cpu)
				must(segment_writer_add(w, &pending[i]), NULL);
	must(segment_writer_flush(w, &totals, &err), &err);
	return clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static void measure_size(const char *from, const char *path)
{
	static uint32_t images[1 << 20];
	struct session_totals totals = { .target_status = -1 };
	struct dict d;
	struct segment_writer *w;
	struct sample *pending = calloc(1 << 20, sizeof(*pending));
	size_t nr_pending = 0;
	uint64_t nr = 0;
	uint64_t spent = 0;
	uint64_t bytes;
	struct err err;
	FILE *in = fopen(from, "re");

	if (!in || !pending)
		must(-1, NULL);
	memset(images, 0xff, sizeof(images));
	must(dict_init(&d), NULL);
	dict_event(&d, &(struct event_desc){ .type = 1 });
	w = open_writer(path, &d);
	while (read_line(in, &d, &pending[nr_pending], images)) {
		nr++;
		if (pending[nr_pending++].time_ns - pending[0].time_ns <
		    FLUSH_SAMPLES_NS)
			continue;
		spent += flush_runs(w, pending, nr_pending);
		nr_pending = 0;
	}
	spent += flush_runs(w, pending, nr_pending);
	bytes = segment_writer_bytes(w);
	must(segment_writer_close(w, &totals, &err), &err);
	printf("%" PRIu64 " samples, %" PRIu64
	       " bytes, %.2f a sample, %.0f ns a sample\n",
	       nr, bytes, (double)bytes / (double)nr, (double)spent / (double)nr);
	printf("frames %zu stacks %zu threads %zu images %zu\n", d.frames.nr,
	       d.stacks.nr, d.threads.nr, d.images.nr);
	dict_done(&d);
	fclose(in);
	free(pending);
}

static void write_speed(const char *path)
{
	struct session_totals totals = { .target_status = -1 };
	struct dict d;
	struct segment_writer *w;
	struct err err;
	uint64_t x = 1;

	must(dict_init(&d), NULL);
	dict_event(&d, &(struct event_desc){ .type = 1 });
	for (int i = 0; i < SPEED_IMAGES; i++) {
		dict_thread(&d, &(struct thread){ .pid = 1000 + i, .tid = 1000 + i });
		dict_image(&d, &(struct image){ .kind = IMAGE_FILE, .inode = 1 + i });
	}
	for (int i = 0; i < SPEED_FRAMES; i++)
		dict_stack(&d, STACK_ROOT,
			   dict_frame(&d, i % SPEED_IMAGES, 4096 + (uint64_t)i * 16));
	w = open_writer(path, &d);
	for (int i = 0; i < SPEED_SAMPLES; i++) {
		struct sample s = { .period = 1001001, .cpu = (i / 1000) % 2 };

		x = hash_u64(x + 1);
		s.time_ns = (uint64_t)i * 1001001 + x % 20000;
		s.thread = (i / 200) % SPEED_IMAGES;
		s.stack = STACK_FIRST + (uint32_t)((x >> 20) % SPEED_FRAMES);
		must(segment_writer_add(w, &s), NULL);
		if (segment_writer_pending(w) == 4000)
			must(segment_writer_flush(w, &totals, &err), &err);
	}
	must(segment_writer_close(w, &totals, &err), &err);
	dict_done(&d);
}

static void measure_read(const char *path, unsigned int columns, const char *what)
{
	struct segment *s;
	struct sample_batch b;
	struct err err;
	uint64_t nr = 0;
	uint64_t begin = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	int r;

	must(segment_open(path, TRUST_ANY, &s, &err), &err);
	while (!(r = segment_next(s, columns, &b, &err)))
		nr += b.nr;
	must(r, &err);
	printf("%s: %" PRIu64 " samples, %.2f ns a sample; damage %" PRIu64 "\n", what,
	       nr,
	       (double)(clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)nr,
	       segment_damage(s)->bad_samples);
	segment_close(s);
}

int main(int argc, char **argv)
{
	const char *path = argv[argc - 1];

	if (argc == 4 && !strcmp(argv[1], "size"))
		measure_size(argv[2], path);
	else if (argc == 3 && !strcmp(argv[1], "speed"))
		write_speed(path);
	else
		return 2;
	measure_read(path, COLUMN_THREAD | COLUMN_EVENT | COLUMN_STACK,
		     "thread, event, stack");
	measure_read(path, COLUMN_STACK, "stack");
	measure_read(path, COLUMN_ALL, "all columns");
	return 0;
}
