/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr2line.c - `oprofile addr2line`: prints the source lines of addresses like binutils'
 * addr2line, using the index if there is one. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/sort_keys.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/word_file.h"
#include "base/parse.h"
#include "present/facts/addr2line.h"
#include "present/lines/screen.h"
#include "resolve/find/index_cache.h"
#include "resolve/lines/lines.h"
#include "tools/caches/fill.h"
#include "tools/cli/command.h"

enum {
	INPUT_STEP = 1 << 20,
	INPUT_BATCH_MAX = 64 << 20,
	/* Maximum bytes of an input line that matter; no address is longer. */
	WORD_MAX = 64,
	OUTPUT_STEP = 1 << 18,
	ANSWER_BYTES = 128, /* estimated bytes of an answer */
	STEP_MIN = 1024,
	TEXT_BYTES = 48 << 20, /* limit for the answers held in memory at once */
	AHEAD = 16,            /* how many answers ahead to prefetch */
	CACHE_LINE = 64
};

extern const struct command command_addr2line;

struct addr2line_settings {
	const char *exe;
	const char *section;
	const char *demangle;
	bool addresses;
	bool functions;
	bool inlines;
	bool pretty;
	bool base_names;
	bool no_cache;
	bool verbose;
	uint64_t threads;
};

struct addr2line_run {
	struct addr2line_settings set;
	struct lines *lines;
	struct addr2line_out out;
	VEC(uint64_t) addrs; /* addresses to look up */
	VEC(uint64_t) shown; /* the numbers as given; only filled if they are printed */
	VEC(struct addr2line_piece) pieces;
	bool failed;
};

static const struct option_row rows[] = {
	{ .name = "exe",
	  .letter = 'e',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct addr2line_settings, exe),
	  .help = "Read this binary (default: a.out)." },
	{ .name = "addresses",
	  .letter = 'a',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, addresses),
	  .help = "Print the address first." },
	{ .name = "functions",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, functions),
	  .help = "Print the function's name." },
	{ .name = "inlines",
	  .letter = 'i',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, inlines),
	  .help = "Also print the callers of inlined functions." },
	{ .name = "pretty-print",
	  .letter = 'p',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, pretty),
	  .help = "Print one line per function." },
	{ .name = "basenames",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, base_names),
	  .help = "Print file names without directories." },
	{ .name = "demangle",
	  .letter = 'C',
	  .kind = OPTION_TEXT,
	  .value = "STYLE",
	  .value_optional = true,
	  .letter_alone = true,
	  .offset = OPTION(struct addr2line_settings, demangle),
	  .help = "Demangle C++ and Rust names. STYLE is detected automatically; \"none\" turns it off." },
	{ .name = "section",
	  .letter = 'j',
	  .kind = OPTION_TEXT,
	  .value = "NAME",
	  .offset = OPTION(struct addr2line_settings, section),
	  .help = "Treat addresses as offsets in this section." },
	{ .name = "no-cache",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, no_cache),
	  .help = "Neither read nor write index files (oprofile cache)." },
	{ .name = "threads",
	  .kind = OPTION_COUNT,
	  .value = "NUMBER",
	  .not_zero = true,
	  .offset = OPTION(struct addr2line_settings, threads),
	  .help = "Read debug information with at most this many threads." },
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct addr2line_settings, verbose),
	  .help = "Print to stderr how much was read." },
	{ .name = "target",
	  .letter = 'b',
	  .kind = OPTION_REFUSED,
	  .value = "BFDNAME",
	  .refusal = "only ELF files are read, of any machine: leave it out" },
	{ 0 },
};

/* Adds the address that an argument or input line gives: the number itself or, with --section, an
 * offset in the section. */
static void add_address(struct addr2line_run *run, const char *word)
{
	uint64_t shown = 0;
	uint64_t addr;

	if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
		word += 2;
	if (!parse_hex_at(&word, &shown))
		shown = 0; /* like addr2line, takes text that is not a number as 0 */
	addr = shown;
	if ((run->set.section || lines_is_relocatable(run->lines)) &&
	    lines_position(run->lines, run->set.section, shown, &addr))
		addr = UINT64_MAX;
	if (!vec_push(&run->addrs, addr) ||
	    (run->set.addresses && !vec_push(&run->shown, shown)))
		run->failed = true;
}

/* Prefetches an answer. The answers are stored in the order of addresses, so answers that are
 * consecutive in the output are far apart in memory. */
static void addr2line_fetch(const uint8_t *at)
{
	__builtin_prefetch(at);
	__builtin_prefetch(at + CACHE_LINE);
}

/* Writes the answers for inputs [first, end) in input order. */
static int addr2line_put_in_order(struct addr2line_run *run, size_t first, size_t end)
{
	struct buf *text = &run->out.text;
	struct buf ordered = { 0 };
	int r = text->failed ? -ENOMEM : 0;

	for (size_t i = first; !r && i < end; i++) {
		const struct addr2line_piece *p = &run->pieces.at[i];

		if (i + AHEAD < end)
			addr2line_fetch(text->data + run->pieces.at[i + AHEAD].at);
		buf_put(&ordered, text->data + p->at, p->len);
		if (ordered.len >= OUTPUT_STEP || i + 1 == end) {
			r = ordered.failed ? -ENOMEM
					   : io_write_all(STDOUT_FILENO, ordered.data,
							  ordered.len);
			buf_clear(&ordered);
		}
	}
	buf_done(&ordered);
	return r;
}

/* Looks up the inputs [first, end) in the order of addresses, which `keys` has for all inputs:
 * neighbors are in the same part of the index and share much of their text. Returns 0 or, if the
 * answers use too much memory, the number of inputs to try instead. */
static size_t addr2line_look_up(struct addr2line_run *run, const struct sort_key *keys,
				size_t first, size_t end)
{
	struct addr2line_out *out = &run->out;
	size_t nr = 0;

	buf_reserve_huge(&out->text, (end - first) * ANSWER_BYTES);
	for (size_t i = 0; i < run->addrs.nr; i++) {
		uint32_t number = keys[i].index;
		uint64_t shown = out->addresses ? run->shown.at[number] : 0;

		if (number < first || number >= end)
			continue;
		run->pieces.at[number] = addr2line_out_put(out, keys[i].at, shown);
		nr++;
		/* Do not make groups smaller than a minimum, because they share less text. */
		if (out->text.len > TEXT_BYTES && end - first > STEP_MIN)
			return nr / 2 > STEP_MIN ? nr / 2 : STEP_MIN;
	}
	return 0;
}

/* Answers all inputs together or, if that needs too much memory, in several steps: names of
 * templates can have thousands of bytes. */
static int answer_in_steps(struct addr2line_run *run, const struct sort_key *keys)
{
	size_t step = run->addrs.nr;
	size_t first = 0;
	int r = 0;

	while (!r && first < run->addrs.nr) {
		size_t left = run->addrs.nr - first;
		size_t end = first + (left < step ? left : step);
		size_t fewer = addr2line_look_up(run, keys, first, end);

		if (fewer) {
			step = fewer;
		} else {
			r = addr2line_put_in_order(run, first, end);
			first = end;
		}
		addr2line_out_clear(&run->out);
	}
	return r;
}

static int addr2line_answer(struct addr2line_run *run, bool last)
{
	size_t nr = run->addrs.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	int r = keys && vec_reserve(&run->pieces, nr) ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++)
		keys[i] = (struct sort_key){ run->addrs.at[i], (uint32_t)i };
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; !r && i < nr; i++)
		run->addrs.at[i] = keys[i].at;
	if (!r)
		lines_prepare(run->lines, run->addrs.at, nr);
	if (last)
		lines_store(run->lines);
	if (!r)
		r = answer_in_steps(run, keys);
	free(keys);
	if (r)
		command_error("cannot write: %s", strerror(-r));
	run->addrs.nr = 0;
	run->shown.nr = 0;
	return r;
}

static void addr2line_take_line(struct addr2line_run *run, const uint8_t *line,
				size_t len)
{
	char word[WORD_MAX];
	size_t skip = 0;

	while (skip < len && (line[skip] == ' ' || line[skip] == '\t'))
		skip++;
	len -= skip;
	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, line + skip, len);
	word[len] = '\0';
	add_address(run, word);
}

/* Consumes complete lines from the start of `in`; at the end of the input, also the rest. */
static void addr2line_take_lines(struct addr2line_run *run, struct buf *in, bool end)
{
	size_t at = 0;

	while (at < in->len) {
		const uint8_t *newline = memchr(in->data + at, '\n', in->len - at);
		size_t len = newline ? (size_t)(newline - in->data) - at : in->len - at;

		if (!newline && !end)
			break;
		addr2line_take_line(run, in->data + at, len);
		at += len + (newline != NULL);
	}
	if (at) {
		memmove(in->data, in->data + at, in->len - at);
		in->len -= at;
	}
}

static bool more_now(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

/* Reads addresses from the standard input. Answers as soon as no more input is pending, because
 * other programs use this through pipes. */
static int answer_input(struct addr2line_run *run)
{
	struct buf in = { 0 };
	bool end = false;
	int r = 0;

	while (!r && !end && !run->failed) {
		ssize_t n;

		if (!buf_reserve(&in, INPUT_STEP)) {
			r = -ENOMEM;
			break;
		}
		n = read(STDIN_FILENO, in.data + in.len, INPUT_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		end = n <= 0;
		if (n > 0)
			in.len += (size_t)n;
		if (!end && in.len < INPUT_BATCH_MAX && more_now())
			continue;
		addr2line_take_lines(run, &in, end);
		if (run->addrs.nr)
			r = addr2line_answer(run, end);
	}
	buf_done(&in);
	return r;
}

static int addr2line_open_lines(struct addr2line_run *run, struct err *err)
{
	char *cache_dir = run->set.no_cache ? NULL : index_cache_dir();
	struct lines_options options = { .cache_dir = cache_dir,
					 .threads = (unsigned int)run->set.threads,
					 .symbols = true };
	int r = lines_open_path(&options, run->set.exe, &run->lines, err);

	free(cache_dir);
	return r;
}

static void say_stats(const struct addr2line_run *run)
{
	struct lines_stats stats;

	lines_stats(run->lines, &stats);
	screen_print_line(
		stderr,
		"%s: index %s; %zu of %zu units read, %zu split ones not found%s",
		command_name(), stats.index_found ? "found" : "not found",
		stats.units_read, stats.units, stats.units_split,
		stats.alt_missing ? "; dwz's file not found" : "");
}

static int answer_all(struct addr2line_run *run, int argc, char **argv, int first)
{
	const struct addr2line_settings *set = &run->set;
	int r = 0;

	run->out.lines = run->lines;
	run->out.addresses = set->addresses;
	run->out.functions = set->functions;
	run->out.inlines = set->inlines;
	run->out.pretty = set->pretty;
	run->out.base_names = set->base_names;
	run->out.demangle = set->demangle && strcmp(set->demangle, "none") != 0;
	for (int i = first; i < argc; i++)
		add_address(run, argv[i]);
	r = first < argc ? addr2line_answer(run, true) : answer_input(run);
	addr2line_out_done(&run->out);
	vec_done(&run->addrs);
	vec_done(&run->shown);
	vec_done(&run->pieces);
	if (set->verbose)
		say_stats(run);
	return r;
}

static int run_expanded(const struct command *self, struct addr2line_run *run, int argc,
			char **argv)
{
	struct err err = { 0 };
	bool is_partial;
	int first;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, &run->set, &first);

	if (r >= 0)
		return r;
	r = addr2line_open_lines(run, &err);
	if (r) {
		command_error("%s: %s", run->set.exe, err.text);
		return 1;
	}
	r = answer_all(run, argc, argv, first);
	is_partial = lines_is_partial(run->lines);
	lines_free(run->lines);
	if (is_partial)
		cache_fill_start(run->set.exe);
	return r || run->failed ? 1 : 0;
}

static int addr2line_run_command(const struct command *self, int argc, char **argv)
{
	struct addr2line_run *run = calloc(1, sizeof(*run));
	struct word_file words;
	struct err err = { 0 };
	int r = run ? word_file_expand(&words, argc, argv, &err) : -ENOMEM;

	if (r) {
		command_error("%s", run ? err.text : "out of memory");
		free(run);
		return 1;
	}
	run->set.exe = "a.out";
	r = run_expanded(self, run, words.argc, words.argv);
	word_file_done(&words);
	free(run);
	return r;
}

const struct command command_addr2line = {
	.name = "addr2line",
	.summary = "print source lines, functions and inlined calls of addresses",
	.usage = "[options] [-e FILE] [ADDRESS...]",
	.notes =
		"Options, input and output are those of binutils' addr2line: "
		"addresses are\n"
		"hexadecimal. Without any, they are read from standard input, one per line.\n@FILE is replaced by the arguments in that file.\n",
	.options = rows,
	.run = addr2line_run_command,
};
