/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/parse.h"
#include "daemon/server/control_server.h"

enum {
	MASK_WORD = 1, /* the unit mask follows the name and the count */
	MODE_READ = 0444,
	MODE_WRITE = 0644,
	MODE_ALL = 0666
};

static const uint64_t value_max = INT32_MAX; /* the limit of daemonrc */

/* The kind of file that a path names. */
enum kind {
	KIND_ENABLE,
	KIND_DUMP,
	KIND_CPU_TYPE,
	KIND_POINTER_SIZE,
	KIND_LAST_ERROR,
	KIND_NUMBER, /* a key of the setup */
	KIND_STAT,
	KIND_CPU_STAT,
	KIND_COUNTER
};

enum field {
	FIELD_ENABLED,
	FIELD_EVENT,
	FIELD_COUNT,
	FIELD_UNIT_MASK,
	FIELD_KERNEL,
	FIELD_USER
};

struct control_keys_row {
	const char *name;
	enum kind kind;
	unsigned int mode;
	const char *setup_key;
	const char *otherwise; /* the value if the setup has none */
	int what;              /* enum control_stat, enum field */
};

static const struct control_keys_row rows[] = {
	{ "enable", KIND_ENABLE, MODE_WRITE, NULL, NULL, 0 },
	{ "dump", KIND_DUMP, MODE_ALL, NULL, NULL, 0 },
	{ "cpu_type", KIND_CPU_TYPE, MODE_READ, NULL, NULL, 0 },
	{ "pointer_size", KIND_POINTER_SIZE, MODE_READ, NULL, NULL, 0 },
	{ "last_error", KIND_LAST_ERROR, MODE_READ, NULL, NULL, 0 },
	{ "buffer_size", KIND_NUMBER, MODE_WRITE, "BUF_SIZE", "131072", 0 },
	{ "buffer_watershed", KIND_NUMBER, MODE_WRITE, "BUF_WATERSHED", "32768", 0 },
	{ "cpu_buffer_size", KIND_NUMBER, MODE_WRITE, "CPU_BUF_SIZE", "8192", 0 },
	{ "backtrace_depth", KIND_NUMBER, MODE_WRITE, "CALLGRAPH", "127", 0 },
	{ "timeout_ms", KIND_NUMBER, MODE_WRITE, "TIMEOUT_MS", "1", 0 },
	{ "stats/sample_lost_no_mm", KIND_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_NO_MM },
	{ "stats/sample_lost_no_mapping", KIND_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_NO_MAPPING },
	{ "stats/event_lost_overflow", KIND_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_EVENT_LOST },
	{ "stats/bt_lost_no_mapping", KIND_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_BT_NO_MAPPING },
	{ "stats/multiplex_counter", KIND_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_MULTIPLEX },
};

/* The files of each CPU, in stats/cpuN. */
static const struct control_keys_row cpu_rows[] = {
	{ "sample_received", KIND_CPU_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_RECEIVED },
	{ "sample_lost_overflow", KIND_CPU_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_LOST_OVERFLOW },
	{ "backtrace_aborted", KIND_CPU_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_BACKTRACE_ABORTED },
	{ "sample_invalid_eip", KIND_CPU_STAT, MODE_READ, NULL, NULL,
	  CONTROL_STAT_INVALID_EIP },
};

/* The files of each counter, in directory N. */
static const struct control_keys_row counter_rows[] = {
	{ "enabled", KIND_COUNTER, MODE_WRITE, NULL, NULL, FIELD_ENABLED },
	{ "event", KIND_COUNTER, MODE_WRITE, NULL, NULL, FIELD_EVENT },
	{ "count", KIND_COUNTER, MODE_WRITE, NULL, NULL, FIELD_COUNT },
	{ "unit_mask", KIND_COUNTER, MODE_WRITE, NULL, NULL, FIELD_UNIT_MASK },
	{ "kernel", KIND_COUNTER, MODE_WRITE, NULL, NULL, FIELD_KERNEL },
	{ "user", KIND_COUNTER, MODE_WRITE, NULL, NULL, FIELD_USER },
};

/* ---- paths ---- */

static const struct control_keys_row *
control_keys_find_row(const struct control_keys_row *table, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Parses a decimal number below `end`, without leading zeros and followed by a slash, and moves
 * *path past it. Returns false if *path does not begin with such a number. */
static bool control_keys_take_number(const char **path, unsigned int end,
				     unsigned int *ret_number)
{
	char digits[12];
	size_t len = strspn(*path, "0123456789");
	uint64_t number;

	if (!len || len >= sizeof(digits) || (*path)[len] != '/' ||
	    (**path == '0' && len > 1))
		return false;
	memcpy(digits, *path, len);
	digits[len] = 0;
	if (!parse_u64_max(digits, end ? end - 1 : 0, &number) || number >= end)
		return false;
	*ret_number = (unsigned int)number;
	*path += len + 1;
	return true;
}

/* Returns the row of the control file at `path`, or NULL if there is no such file. If the file
 * belongs to a CPU or counter, stores the number of the CPU or counter in *ret_index. */
static const struct control_keys_row *control_keys_find(const struct control_keys *k,
							const char *path,
							unsigned int *ret_index)
{
	static const char cpu[] = "stats/cpu";

	*ret_index = 0;
	if (!strncmp(path, cpu, strlen(cpu))) {
		path += strlen(cpu);
		return control_keys_take_number(&path, k->nr_cpus, ret_index)
			       ? control_keys_find_row(cpu_rows, COUNT_OF(cpu_rows),
						       path)
			       : NULL;
	}
	if (control_keys_take_number(&path, CONTROL_COUNTERS, ret_index))
		return control_keys_find_row(counter_rows, COUNT_OF(counter_rows),
					     path);
	return control_keys_find_row(rows, COUNT_OF(rows), path);
}

static void control_keys_list_table(const struct control_keys_row *table, size_t nr,
				    const char *format, unsigned int index,
				    struct buf *reply)
{
	for (size_t i = 0; i < nr; i++) {
		char path[80];
		int len = format ? snprintf(path, sizeof(path), "%s%u/", format, index)
				 : 0;

		snprintf(path + len, sizeof(path) - (size_t)len, "%s", table[i].name);
		control_put_field(reply, path, "0%o", table[i].mode);
	}
}

void control_keys_list(const struct control_keys *k, struct buf *reply)
{
	control_keys_list_table(rows, COUNT_OF(rows), NULL, 0, reply);
	for (unsigned int i = 0; i < k->nr_cpus; i++)
		control_keys_list_table(cpu_rows, COUNT_OF(cpu_rows), "stats/cpu", i,
					reply);
	for (unsigned int i = 0; i < CONTROL_COUNTERS; i++)
		control_keys_list_table(counter_rows, COUNT_OF(counter_rows), "", i,
					reply);
}

/* ---- counters ---- */

static void reset_counter(struct control_counter *c)
{
	*c = (struct control_counter){ .kernel = true, .user = true };
}

void control_keys_init(struct control_keys *k)
{
	for (size_t i = 0; i < CONTROL_COUNTERS; i++)
		reset_counter(&k->counters[i]);
	k->last_error[0] = 0;
	control_keys_take_setup(k);
}

/* Parses NAME[:COUNT[:UNITMASK[:KERNEL[:USER]]]] into a counter. A field that is missing or not a
 * number keeps its default. */
static void control_keys_take_spec(struct control_counter *c, const char *spec)
{
	uint64_t numbers[4] = { 0, 0, 1, 1 };
	size_t len = strcspn(spec, ":");

	c->mask_name[0] = 0;
	snprintf(c->spec, sizeof(c->spec), "%s", spec);
	snprintf(c->event, sizeof(c->event), "%.*s",
		 (int)(len < sizeof(c->event) ? len : sizeof(c->event) - 1), spec);
	for (size_t i = 0; i < 4 && spec[len]; i++) {
		char word[sizeof(c->mask_name)];

		spec += len + 1;
		len = strcspn(spec, ":");
		snprintf(word, sizeof(word), "%.*s",
			 (int)(len < sizeof(word) ? len : sizeof(word) - 1), spec);
		if (!parse_u64(word, &numbers[i]) && i == MASK_WORD)
			snprintf(c->mask_name, sizeof(c->mask_name), "%s", word);
	}
	c->enabled = true;
	c->count = numbers[0];
	c->unit_mask = numbers[1];
	c->kernel = numbers[2];
	c->user = numbers[3];
}

void control_keys_take_setup(struct control_keys *k)
{
	size_t nr = daemonrc_nr_events(k->setup);

	k->nr_shown = nr < CONTROL_COUNTERS ? nr : CONTROL_COUNTERS;
	for (size_t i = 0; i < CONTROL_COUNTERS; i++) {
		const char *spec = i < nr ? daemonrc_event(k->setup, i) : NULL;

		k->counters[i].enabled = false;
		if (spec && *spec)
			control_keys_take_spec(&k->counters[i], spec);
	}
}

static void make_spec(const struct control_counter *c, char *ret_spec)
{
	char mask[sizeof(c->mask_name)];

	if (c->spec[0]) {
		snprintf(ret_spec, CONTROL_VALUE_MAX, "%s", c->spec);
		return;
	}
	if (c->mask_name[0])
		snprintf(mask, sizeof(mask), "%s", c->mask_name);
	else
		snprintf(mask, sizeof(mask), "%llu", (unsigned long long)c->unit_mask);
	snprintf(ret_spec, CONTROL_VALUE_MAX, "%s:%llu:%s:%d:%d", c->event,
		 (unsigned long long)c->count, mask, c->kernel, c->user);
}

/* Copies to `to` the events of the setup that the counters' files do not show. */
static int keep_others(const struct control_keys *k, struct daemonrc *to)
{
	size_t nr = daemonrc_nr_events(k->setup);
	int r = 0;

	for (size_t i = k->nr_shown; i < nr && !r; i++) {
		const char *spec = daemonrc_event(k->setup, i);

		if (spec && *spec)
			r = daemonrc_add_event(to, spec);
	}
	return r;
}

static int give_setup(struct control_keys *k, struct err *err)
{
	struct daemonrc others = { 0 };
	char spec[CONTROL_VALUE_MAX];
	int r = keep_others(k, &others);

	if (!r)
		daemonrc_clear_events(k->setup);
	for (size_t i = 0; i < CONTROL_COUNTERS && !r; i++) {
		if (!k->counters[i].enabled)
			continue;
		make_spec(&k->counters[i], spec);
		r = daemonrc_add_event(k->setup, spec);
	}
	k->nr_shown = daemonrc_nr_events(k->setup);
	for (size_t i = 0; i < daemonrc_nr_events(&others) && !r; i++)
		r = daemonrc_add_event(k->setup, daemonrc_event(&others, i));
	daemonrc_done(&others);
	return r ? err_set(err, r, "cannot store the events") : 0;
}

/* Checks the event and count of a counter if it is enabled. They are not checked when they are
 * written, because they may be written in any order. Returns 0, or a negative errno with a message
 * in *err. */
static int check_counter(const struct control_keys *k, const struct control_counter *c,
			 struct err *err)
{
	char spec[CONTROL_VALUE_MAX];
	int r;

	if (!c->enabled)
		return 0;
	if (!c->event[0])
		return err_set(
			err, -EINVAL,
			"this counter has no event: write the event to its file 'event' first");
	make_spec(c, spec);
	r = k->ops->check_event(k->ctx, spec, err);
	return r && r != -ENOMEM ? -EINVAL : r;
}

static int control_keys_set_field(struct control_counter *c, int field,
				  const char *value, struct err *err)
{
	uint64_t number = 0;

	if (field == FIELD_EVENT) {
		if (!*value || strlen(value) >= sizeof(c->event) ||
		    strpbrk(value, ": ,\n"))
			return err_set(err, -EINVAL,
				       "expected the name of an event, not \"%.64s\"",
				       value);
		snprintf(c->event, sizeof(c->event), "%s", value);
		return 0;
	}
	if (!parse_u64(value, &number))
		return err_set(err, -EINVAL, "expected a number, not \"%.64s\"", value);
	if (field != FIELD_COUNT && field != FIELD_UNIT_MASK && number > 1)
		return err_set(err, -EINVAL, "expected 0 or 1, not \"%.64s\"", value);
	switch ((enum field)field) {
	case FIELD_ENABLED:
		c->enabled = number;
		break;
	case FIELD_COUNT:
		c->count = number;
		break;
	case FIELD_UNIT_MASK:
		c->unit_mask = number;
		c->mask_name[0] = 0;
		break;
	case FIELD_KERNEL:
		c->kernel = number;
		break;
	case FIELD_USER:
		c->user = number;
		break;
	case FIELD_EVENT:
		break;
	}
	return 0;
}

static int set_counter(struct control_keys *k, unsigned int index, int field,
		       const char *value, struct err *err)
{
	struct control_counter c = k->counters[index];
	int r = control_keys_set_field(&c, field, value, err);

	if (field != FIELD_ENABLED)
		c.spec[0] = 0;
	if (!r)
		r = check_counter(k, &c, err);
	if (r)
		return r;
	k->counters[index] = c;
	return give_setup(k, err);
}

static void get_counter(const struct control_counter *c, int field, char *ret_value)
{
	const uint64_t numbers[] = {
		[FIELD_ENABLED] = c->enabled, [FIELD_EVENT] = 0,
		[FIELD_COUNT] = c->count,     [FIELD_UNIT_MASK] = c->unit_mask,
		[FIELD_KERNEL] = c->kernel,   [FIELD_USER] = c->user,
	};

	if (field == FIELD_EVENT)
		snprintf(ret_value, CONTROL_VALUE_MAX, "%s", c->event);
	else
		snprintf(ret_value, CONTROL_VALUE_MAX, "%llu",
			 (unsigned long long)numbers[field]);
}

/* ---- reading and writing ---- */

static void control_keys_put_number(char *ret_value, uint64_t number)
{
	snprintf(ret_value, CONTROL_VALUE_MAX, "%llu", (unsigned long long)number);
}

int control_keys_get(const struct control_keys *k, const char *path,
		     char ret_value[CONTROL_VALUE_MAX], struct err *err)
{
	unsigned int index;
	const struct control_keys_row *row = control_keys_find(k, path, &index);
	const char *text;

	if (!row)
		return err_set(err, -ENOENT, "%.64s: no such control file", path);
	switch (row->kind) {
	case KIND_ENABLE:
		control_keys_put_number(ret_value, k->ops->is_enabled(k->ctx));
		break;
	case KIND_DUMP:
		control_keys_put_number(ret_value, 0);
		break;
	case KIND_CPU_TYPE:
		snprintf(ret_value, CONTROL_VALUE_MAX, "%s", k->cpu_type);
		break;
	case KIND_POINTER_SIZE:
		control_keys_put_number(ret_value, sizeof(void *));
		break;
	case KIND_LAST_ERROR:
		snprintf(ret_value, CONTROL_VALUE_MAX, "%s", k->last_error);
		break;
	case KIND_NUMBER:
		text = daemonrc_get(k->setup, row->setup_key);
		snprintf(ret_value, CONTROL_VALUE_MAX, "%s",
			 text && *text ? text : row->otherwise);
		break;
	case KIND_STAT:
	case KIND_CPU_STAT:
		control_keys_put_number(
			ret_value,
			k->ops->stat(k->ctx, (enum control_stat)row->what, index));
		break;
	case KIND_COUNTER:
		get_counter(&k->counters[index], row->what, ret_value);
		break;
	}
	return 0;
}

static int set_enable(struct control_keys *k, const char *value, struct err *err)
{
	bool on = !strcmp(value, "1");

	if (!on && strcmp(value, "0") != 0)
		return err_set(err, -EINVAL, "expected 0 or 1, not \"%.64s\"", value);
	if (on && k->ops->is_enabled(k->ctx))
		return err_set(err, -EINVAL, "the daemon is already sampling");
	return k->ops->enable(k->ctx, on, err);
}

/* Stores a number in the setup. The value 0 selects the driver's default size. */
static int control_keys_set_number(struct control_keys *k,
				   const struct control_keys_row *row,
				   const char *value, struct err *err)
{
	uint64_t number;
	int r;

	if (!parse_u64_max(value, value_max, &number))
		return err_set(err, -EINVAL,
			       "expected a number up to %llu, not \"%.64s\"",
			       (unsigned long long)value_max, value);
	r = daemonrc_set_number(k->setup, row->setup_key, number);
	return r ? err_sys(err, r, "cannot set '%s'", row->setup_key) : 0;
}

static int control_keys_set_value(struct control_keys *k, const char *path,
				  const char *value, struct err *err)
{
	unsigned int index;
	const struct control_keys_row *row = control_keys_find(k, path, &index);

	if (!row)
		return err_set(err, -ENOENT, "no such control file");
	if (row->mode == MODE_READ)
		return err_set(err, -EACCES, "this control file is read-only");
	if (row->kind == KIND_ENABLE)
		return set_enable(k, value, err);
	if (row->kind == KIND_DUMP)
		return k->ops->dump(k->ctx, err);
	if (row->kind == KIND_NUMBER)
		return control_keys_set_number(k, row, value, err);
	return set_counter(k, index, row->what, value, err);
}

int control_keys_set(struct control_keys *k, const char *path, const char *value,
		     struct err *err)
{
	struct err own = { 0 };
	int r = control_keys_set_value(k, path, value, &own);

	if (!r)
		return 0;
	snprintf(k->last_error, sizeof(k->last_error), "%.64s: %s", path, own.text);
	return err_set(err, r, "%s", k->last_error);
}
