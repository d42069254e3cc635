/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/columns.h"

#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/clock.h"
#include "base/files/path.h"
#include "present/lines/confidence.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/ratio.h"

enum {
	FRACTION_DIGITS = 9
};

static void columns_put(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void put_percent(struct buf *out, struct percent_memory *memory, uint64_t count,
			uint64_t total)
{
	if (!memory->text[0] || memory->count != count || memory->total != total)
		percent_format(percent_of(count, total), memory->text);
	memory->count = count;
	memory->total = total;
	columns_put(out, memory->text);
}

static void columns_print_samples(struct buf *out, const struct column_cell *c)
{
	buf_put_decimal(out, c->counts[c->at]);
}

static void print_period(struct buf *out, const struct column_cell *c)
{
	buf_put_decimal(out, c->periods[c->at]);
}

static void print_sum(struct buf *out, const struct column_cell *c)
{
	buf_put_decimal(out, c->sums[c->at]);
}

static void print_inclusive(struct buf *out, const struct column_cell *c)
{
	buf_put_decimal(out, c->inclusive[c->at]);
}

static void print_inclusive_percent(struct buf *out, const struct column_cell *c)
{
	put_percent(out, &c->inclusive_percents[c->at], c->inclusive[c->at],
		    c->totals[c->at]);
}

static void print_percent(struct buf *out, const struct column_cell *c)
{
	put_percent(out, &c->percents[c->at], c->counts[c->at], c->totals[c->at]);
}

static void print_interval(struct buf *out, const struct column_cell *c)
{
	confidence_put(out, &c->limits[c->at]);
}

static void print_sum_percent(struct buf *out, const struct column_cell *c)
{
	put_percent(out, &c->sum_percents[c->at], c->sums[c->at], c->totals[c->at]);
}

/* Prints a function's start address, or the address itself, with the same width on every line. */
static void print_vma(struct buf *out, const struct column_cell *c)
{
	uint64_t value = profile_value(c->profile, c->group, c->at);

	if (c->profile->options.keys->keys.at[c->at].row->id == KEY_SYMBOL)
		value = c->profile->functions.at[value].vma;
	buf_put_hex(out, value, c->vma_digits);
}

static void print_file(struct buf *out, const struct column_cell *c)
{
	const char *name = profile_text(c->profile, c->group, c->at);

	columns_put(out, c->options->long_names ? name : image_name_short(name));
}

/* Prints "dir/name.c:12".  The directory is printed only with -f. */
static void print_line(struct buf *out, const struct column_cell *c)
{
	const char *text = profile_text(c->profile, c->group, c->at);

	columns_put(out, c->options->long_names ? text : path_base(text));
}

static void print_value(struct buf *out, const struct column_cell *c)
{
	column_put_value(out, c->profile, c->group, c->at);
}

/* Appends seconds without trailing zeros: 0, 0.01, 12.5. */
static void put_seconds(struct buf *out, uint64_t ns)
{
	uint64_t fraction = ns % NS_PER_S;
	char text[FRACTION_DIGITS];
	size_t len = FRACTION_DIGITS;

	buf_put_decimal(out, ns / NS_PER_S);
	if (!fraction)
		return;
	for (size_t i = FRACTION_DIGITS; i-- > 0; fraction /= 10)
		text[i] = (char)('0' + fraction % 10);
	while (text[len - 1] == '0')
		len--;
	buf_put_u8(out, '.');
	buf_put(out, text, len);
}

void column_put_value(struct buf *out, struct profile *p, uint32_t group, size_t at)
{
	uint64_t value = profile_value(p, group, at);

	switch (p->options.keys->keys.at[at].row->kind) {
	case KEY_INTEGER:
		buf_put_signed(out, (int64_t)value);
		break;
	case KEY_HEX:
		columns_put(out, "0x");
		buf_put_hex(out, value, 1);
		break;
	case KEY_TIMES:
		put_seconds(out, value);
		break;
	case KEY_TEXT:
	default:
		columns_put(out, profile_text(p, group, at));
		break;
	}
}

static int sort_text(struct profile *p, uint32_t a, uint32_t b, size_t at)
{
	return strcmp(profile_text(p, a, at), profile_text(p, b, at));
}

/* Compares by file, then by line number. */
static int sort_line(struct profile *p, uint32_t a, uint32_t b, size_t at)
{
	const char *line_a = profile_text(p, a, at);
	const char *line_b = profile_text(p, b, at);
	const char *end_a = strrchr(line_a, ':');
	const char *end_b = strrchr(line_b, ':');

	if (!end_a || !end_b || end_a - line_a != end_b - line_b ||
	    memcmp(line_a, line_b, (size_t)(end_a - line_a)) != 0)
		return strcmp(line_a, line_b);
	/* Line numbers have no leading zeros, so the longer one is larger. */
	if (strlen(end_a) != strlen(end_b))
		return strlen(end_a) < strlen(end_b) ? -1 : 1;
	return strcmp(end_a, end_b);
}

static int sort_unsigned(struct profile *p, uint32_t a, uint32_t b, size_t at)
{
	uint64_t va = profile_value(p, a, at);
	uint64_t vb = profile_value(p, b, at);

	return va < vb ? -1 : va > vb;
}

static int sort_signed(struct profile *p, uint32_t a, uint32_t b, size_t at)
{
	int64_t va = (int64_t)profile_value(p, a, at);
	int64_t vb = (int64_t)profile_value(p, b, at);

	return va < vb ? -1 : va > vb;
}

/* The titles and widths are those of OProfile's reports. */
const struct column columns[] = {
	{ "vma", "vma", "where the function begins", 9, KEY_ID_COUNT, 0, print_vma,
	  NULL },
	{ "samples", "samples", "number of samples", 9, KEY_ID_COUNT, 0,
	  columns_print_samples, NULL },
	{ "percent", "%", "share of the event's selected samples", 9, KEY_ID_COUNT, 0,
	  print_percent, NULL },
	{ "interval", "interval", "limits of the share", 21, KEY_ID_COUNT, 0,
	  print_interval, NULL },
	{ "total", "total", "samples of the function and its callees", 9, KEY_ID_COUNT,
	  0, print_inclusive, NULL },
	{ "total-percent", "total %", "share of these", 9, KEY_ID_COUNT, 0,
	  print_inclusive_percent, NULL },
	{ "period", "period", "sum of the samples' periods", 15, KEY_ID_COUNT, 0,
	  print_period, NULL },
	/* The first two for events whose counts are sums of periods. */
	{ "values", "period", "sum of the samples' periods", 15, KEY_ID_COUNT, 0,
	  columns_print_samples, NULL },
	{ "value-samples", "samples", "number of samples", 9, KEY_ID_COUNT, 0,
	  print_period, NULL },
	{ "sum", "cum. samples", "samples of this line and those above", 14,
	  KEY_ID_COUNT, 0, print_sum, NULL },
	{ "sum-percent", "cum. %", "share of these", 11, KEY_ID_COUNT, 0,
	  print_sum_percent, NULL },
	{ "ratio", "ratio", "ratio of the periods of two events", 11, KEY_ID_COUNT, 0,
	  ratio_print, NULL },
	{ "image", "image name", "binary that was hit", 25, KEY_IMAGE, NEED_IMAGE,
	  print_file, sort_text },
	{ "app", "app name", "main binary of the process", 25, KEY_APP,
	  NEED_APP | NEED_IMAGE, print_file, sort_text },
	{ "symbol", "symbol name", "function", 30, KEY_SYMBOL,
	  NEED_IMAGE | NEED_FUNCTION, print_value, sort_text },
	{ "origin", "origin", "mode of the processor", 7, KEY_ORIGIN, NEED_IMAGE,
	  print_value, sort_text },
	{ "mark", " ", "cpu mode, before a function", 4, KEY_ID_COUNT, NEED_IMAGE,
	  print_value, sort_text },
	{ "comm", "command", "command name of the thread", 17, KEY_COMM, NEED_COMM,
	  print_value, sort_text },
	{ "pid", "pid", "process", 9, KEY_PID, NEED_PID, print_value, sort_signed },
	{ "tid", "tid", "thread", 9, KEY_TID, NEED_TID, print_value, sort_signed },
	{ "cpu", "cpu", "processor", 5, KEY_CPU, NEED_CPU, print_value, sort_signed },
	{ "address", "address", "link-time address; run-time address in the kernel", 19,
	  KEY_ADDRESS, NEED_IMAGE | NEED_ADDRESS, print_value, sort_unsigned },
	{ "cgroup", "cgroup", "control group", 25, KEY_CGROUP, NEED_CGROUP, print_value,
	  sort_text },
	{ "session", "session", "session of the sample", 17, KEY_SESSION, 0,
	  print_value, sort_text },
	{ "host", "host", "machine that was recorded", 17, KEY_HOST, 0, print_value,
	  sort_text },
	{ "line", "source line", "file and line of the address", 28, KEY_LINE,
	  NEED_IMAGE | NEED_ADDRESS | NEED_LINES, print_line, sort_line },
	{ "file", "source file", "file of the address", 28, KEY_FILE,
	  NEED_IMAGE | NEED_ADDRESS | NEED_LINES, print_line, sort_text },
	{ "inline", "inlined function", "function that the source line belongs to", 30,
	  KEY_INLINE, NEED_IMAGE | NEED_FUNCTION | NEED_ADDRESS | NEED_LINES,
	  print_value, sort_text },
	{ "linenr", "linenr info", "file and line where the function begins", 28,
	  KEY_FUNCTION_LINE, NEED_IMAGE | NEED_FUNCTION | NEED_LINES, print_line,
	  sort_line },
	{ "stack", "call stack", "functions, the outermost first", 40, KEY_STACK,
	  NEED_IMAGE | NEED_FUNCTION | NEED_STACK, print_value, sort_text },
	{ "time", "time (s)", "seconds since the session's start", 15, KEY_TIME,
	  NEED_TIME, print_value, sort_unsigned },
	{ NULL, NULL, NULL, 0, KEY_ID_COUNT, 0, NULL, NULL },
};

const struct column *column_find(const char *name)
{
	for (const struct column *c = columns; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

const struct column *column_of_key(enum key_id key)
{
	for (const struct column *c = columns; c->name; c++) {
		if (c->key == key && key != KEY_ID_COUNT)
			return c;
	}
	return NULL;
}

bool column_sorts_text(enum key_id key)
{
	const struct column *c = column_of_key(key);

	return c && c->sort == sort_text;
}
