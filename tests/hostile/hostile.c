/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostile [--flips N] [--step N] [--seed N] [--only NUMBER] FILE... - runs the reader, the replay,
 * the profile and the commands with truncated and damaged recordings.
 *
 * For every FILE it uses each STEP-th prefix, and N copies with random bytes changed.  Every
 * series is a separate process and one TAP case: it must not crash, leak (with a sanitizer), use
 * 1 GB of memory, or need 5 s for one input.  --only runs one input, for a debugger. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "aggregate/read/read.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "resolve/replay/replay.h"
#include "tools/cli/command.h"
#include "tools/commands.h"

enum {
	INPUT_MAX = 1 << 30,
	MEMORY_MAX_KB = 1 << 20,
	SECONDS_MAX = 5,
	PATH_BYTES = 64,
	WORDS_MAX = 8,
	NR_WAYS = 8,
	PIPE_BYTES_MAX = 512 << 10,
	CHANGES_MAX = 8, /* bytes of a copy that are changed */
	NONE = -1
};

enum series {
	PREFIXES,
	FLIPS,
	NR_SERIES
};

static const char *const series_names[NR_SERIES] = { "prefixes", "flips" };

struct settings {
	unsigned long flips;
	unsigned long step;
	unsigned long seed;
	long only;
};

/* The state of a series, in memory shared with the parent, which reads the last state of a process
 * that died. */
struct state {
	unsigned long number;
	unsigned long nr_opened;
	unsigned long slow_number;
	uint64_t slow_ns;
};

/* The directory for the output of the commands, and for directories of perf record --threads. */
static char folder[] = "/tmp/hostile-XXXXXX";

/* splitmix64: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* ---- readers ---- */

static int read_profile(const char *path, const char *by, bool quality, bool one_thread)
{
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys,
					   .trust = TRUST_ANY,
					   .quality = quality,
					   .periods = quality,
					   .names = NAMES_PERF,
					   .threads = one_thread ? 1 : 0 };
	struct err err = { 0 };
	struct profile p;
	int r;

	if (keys_parse(&keys, by, &err) || profile_init(&p, &options))
		abort();
	r = profile_read_perf_data(&p, path, "", &err);
	if (r && !err.text[0])
		abort();
	profile_finish(&p);
	profile_done(&p);
	keys_done(&keys);
	return r;
}

static int read_flat(const char *path)
{
	return read_profile(path, "event,comm,image,symbol", false, true);
}

static int read_all(const char *path)
{
	return read_profile(path, "pid,tid,cpu,image,symbol,address,cgroup", true,
			    false);
}

static int count_each(void *ctx, const struct decoder *decoder,
		      const struct record *rec, const struct sample *sample)
{
	uint64_t *sum = ctx;

	(void)decoder;
	*sum += rec->id.time_ns + sample->thread;
	return 0;
}

static int read_each(const char *path)
{
	uint64_t sum = 0;
	const struct replay_options options = {
		.chains = true, .cgroups = true, .each = count_each, .ctx = &sum
	};
	struct sample_batch batch;
	struct perf_input *in;
	struct replay *replay;
	int r = perf_input_open(path, TRUST_ANY, &in, NULL);

	if (r)
		return r;
	r = replay_new(in, &options, &replay, NULL);
	if (!r) {
		while ((r = replay_next(replay, &batch, NULL)) == 0)
			;
		replay_free(replay);
	}
	perf_input_close(in);
	return r;
}

/* Runs a command line like main(). Returns 0 if its status is 0 or 3, else a negative errno. */
static int run_command(const char *const *words, const char *path)
{
	const struct command *cmd = command_find(words[0]);
	char *argv[WORDS_MAX + 2] = { NULL };
	int argc = 0;
	int status;

	if (!cmd)
		abort();
	for (; words[argc]; argc++)
		argv[argc] = strdup(words[argc]);
	argv[argc++] = strdup(path);
	command_set_name(cmd, false);
	status = cmd->run(cmd, argc, argv);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return status == 0 || status == 3 ? 0 : -EBADMSG;
}

static int run_info(const char *path)
{
	static const char *const words[] = { "info", "--json", NULL };

	return run_command(words, path);
}

static int run_script(const char *path)
{
	static const char *const words[] = { "script", "--no-pager", NULL };

	return run_command(words, path);
}

static int run_import(const char *path)
{
	const char *const words[] = { "import",        "--force", "--name", "hostile",
				      "--session-dir", folder,    NULL };

	return run_command(words, path);
}

static int run_export(const char *path)
{
	char file[PATH_BYTES];
	const char *const words[] = { "export", "perf-data", "-o", file, NULL };

	snprintf(file, sizeof(file), "%s/perf.data", folder);
	return run_command(words, path);
}

static int run_report(const char *path)
{
	static const char *const words[] = { "report", "--details", "--no-pager",
					     NULL };

	return run_command(words, path);
}

static int (*const ways[])(const char *path) = { read_flat,  read_all,   read_each,
						 run_info,   run_script, run_import,
						 run_export, run_report };

/* ---- inputs ---- */

static int open_input(const uint8_t *bytes, size_t len, bool through_pipe)
{
	int ends[2];

	if (!through_pipe) {
		int fd = memfd_create("hostile", MFD_CLOEXEC);

		if (fd < 0 || io_write_all(fd, bytes, len))
			abort();
		return fd;
	}
	if (pipe2(ends, O_CLOEXEC) ||
	    fcntl(ends[1], F_SETPIPE_SZ, (int)len + 4096) < 0 ||
	    io_write_all(ends[1], bytes, len))
		abort();
	close(ends[1]);
	return ends[0];
}

/* Makes a recording of perf record --threads: the file, and its contents as records without a
 * header. Stores the path to read. */
static void make_directory(const uint8_t *bytes, size_t len, char path[PATH_BYTES])
{
	size_t skip = len < 104 ? len : 104;

	snprintf(path, PATH_BYTES, "%s/data.0", folder);
	if (io_write_file(path, bytes + skip, len - skip, 0600))
		abort();
	snprintf(path, PATH_BYTES, "%s/data", folder);
	if (io_write_file(path, bytes, len, 0600))
		abort();
	snprintf(path, PATH_BYTES, "%s", folder);
}

/* Reads an input. For a pipe, every other input comes through one; for a file, every other input
 * is a directory. */
static void read_input(const uint8_t *bytes, size_t len, unsigned long number,
		       struct state *state)
{
	bool is_pipe = len >= 16 && (bytes[8] == 16 || bytes[15] == 16);
	bool odd = number / NR_WAYS & 1;
	int fd = open_input(bytes, len, is_pipe && odd && len <= PIPE_BYTES_MAX);
	char path[PATH_BYTES];
	uint64_t begin;
	uint64_t took;

	if (odd && !is_pipe)
		make_directory(bytes, len, path);
	else
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	begin = clock_now_ns(CLOCK_MONOTONIC);
	if (ways[number % NR_WAYS](path) >= 0)
		state->nr_opened++;
	close(fd);
	took = clock_now_ns(CLOCK_MONOTONIC) - begin;
	if (took > state->slow_ns) {
		state->slow_ns = took;
		state->slow_number = number;
	}
}

/* Copies the bytes into memory of exactly that size, so that a read beyond it is detected. */
static uint8_t *copy_of(const struct buf *seed, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	if (len)
		memcpy(copy, seed->data, len);
	return copy;
}

static void change(uint8_t *bytes, size_t len, uint64_t *state)
{
	static const uint8_t extremes[] = { 0x00, 0xff, 0x7f, 0x80 };
	uint64_t nr = 1 + next_random(state) % CHANGES_MAX;

	for (uint64_t i = 0; i < nr; i++) {
		uint8_t *at = &bytes[next_random(state) % len];
		uint64_t how = next_random(state);

		switch (how % 3) {
		case 0:
			*at ^= (uint8_t)(1 << (how >> 8) % 8);
			break;
		case 1:
			*at = extremes[(how >> 8) % sizeof(extremes)];
			break;
		default:
			*at = (uint8_t)(how >> 8);
		}
	}
}

static void run_one(const struct settings *set, const struct buf *seed,
		    enum series series, unsigned long number, struct state *state)
{
	size_t len = series == PREFIXES ? number * set->step : seed->len;
	uint64_t random = set->seed + number;
	uint8_t *bytes = copy_of(seed, len);

	if (series == FLIPS)
		change(bytes, len, &random);
	state->number = number;
	alarm(4 * SECONDS_MAX);
	read_input(bytes, len, number, state);
	alarm(0);
	free(bytes);
}

static unsigned long length_of(const struct settings *set, const struct buf *seed,
			       enum series series)
{
	return series == FLIPS ? set->flips : seed->len / set->step + 1;
}

/* Writes messages to `messages`, which keeps those of the last input. */
static void run_all(const struct settings *set, const struct buf *seed,
		    enum series series, struct state *state, int messages)
{
	unsigned long nr = length_of(set, seed, series);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
	    dup2(messages, STDERR_FILENO) < 0)
		abort();
	for (unsigned long i = 0; i < nr; i++) {
		if (ftruncate(messages, 0) || lseek(messages, 0, SEEK_SET))
			abort();
		run_one(set, seed, series, i, state);
	}
}

/* ---- supervision of a series ---- */

static const char *judge(int status, const struct state *state,
			 const struct rusage *use)
{
	static char text[64];

	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(status));
		return text;
	}
	if (WEXITSTATUS(status))
		return "a sanitizer found something";
	if (!state->nr_opened)
		return "not one was read";
	if (state->slow_ns > SECONDS_MAX * 1000000000ULL)
		return "too slow";
	return use->ru_maxrss > MEMORY_MAX_KB ? "too much memory" : NULL;
}

static void print_messages(int messages)
{
	struct buf text = { 0 };

	if (lseek(messages, 0, SEEK_SET) || io_read_fd(messages, &text, INPUT_MAX))
		return;
	fwrite(text.data, 1, text.len, stdout);
	buf_done(&text);
}

/* Returns whether the series passed. */
static bool watch(const struct settings *set, const struct buf *seed,
		  enum series series, const char *name, unsigned int number)
{
	struct state *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int messages = memfd_create("messages", MFD_CLOEXEC);
	struct rusage use;
	const char *bad;
	int status;
	pid_t child;

	fflush(stdout);
	child = state == MAP_FAILED || messages < 0 ? -1 : fork();
	if (child < 0)
		abort();
	if (!child) {
		run_all(set, seed, series, state, messages);
		exit(0);
	}
	if (wait4(child, &status, 0, &use) != child)
		abort();
	bad = judge(status, state, &use);
	printf("%sok %u - %s of %s: %lu\n", bad ? "not " : "", number,
	       series_names[series], name, length_of(set, seed, series));
	printf("# %lu read; %ld MB at most; number %lu took %.3f s\n", state->nr_opened,
	       use.ru_maxrss >> 10, state->slow_number, (double)state->slow_ns / 1e9);
	if (bad) {
		printf("# %s at number %lu\n", bad, state->number);
		print_messages(messages);
	}
	close(messages);
	munmap(state, sizeof(*state));
	return !bad;
}

static bool run_file(const struct settings *set, const char *path, unsigned int *number)
{
	struct state state = { 0 };
	struct buf seed = { 0 };
	bool good = true;

	if (io_read_file(path, &seed, INPUT_MAX) || !seed.len) {
		printf("not ok %u - %s cannot be read\n", ++*number, path);
		return false;
	}
	for (enum series s = 0; s < NR_SERIES; s++) {
		if (set->only != NONE)
			run_one(set, &seed, s, (unsigned long)set->only, &state);
		else if (s == PREFIXES ? set->step : set->flips)
			good &= watch(set, &seed, s, path, ++*number);
	}
	buf_done(&seed);
	return good;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "flips", required_argument, NULL, 'f' },
		{ "step", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "only", required_argument, NULL, 'o' },
		{ 0 },
	};
	struct settings set = { .flips = 10000, .step = 1, .only = NONE };
	unsigned int number = 0;
	bool good = true;
	int first;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		unsigned long value = optarg ? strtoul(optarg, NULL, 0) : 0;

		if (c == 'f')
			set.flips = value;
		else if (c == 't')
			set.step = value;
		else if (c == 's')
			set.seed = value;
		else if (c == 'o')
			set.only = (long)value;
		else
			return 2;
	}
	first = optind;
	if (!mkdtemp(folder))
		return 2;
	/* The commands also use `optind`. */
	for (int i = first; i < argc; i++)
		good &= run_file(&set, argv[i], &number);
	(void)io_remove_tree(folder);
	printf("1..%u\n", number);
	return !good;
}
