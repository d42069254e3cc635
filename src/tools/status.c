/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.c - `oprofile status`: prints the daemon's state and its cost. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/err.h"
#include "base/parse.h"
#include "daemon/server/control_client.h"
#include "present/lines/json.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"

extern const struct command command_status;

struct status_settings {
	bool json;
};

static const struct option_row rows[] = {
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct status_settings, json),
	  .help = "Print everything that the daemon reports as JSON." },
	{ 0 },
};

enum {
	LINE_MAX_BYTES = 160
};

static const char *status_text_of(const struct control_reply *reply, const char *key)
{
	const char *value = control_reply_get(reply, key);

	return value && *value ? value : "unknown";
}

/* Stores the number that the daemon reports for a key. Returns false if it reports none. */
static bool status_number_of(const struct control_reply *reply, const char *key,
			     uint64_t *ret_v)
{
	const char *value = control_reply_get(reply, key);

	return value && parse_u64(value, ret_v);
}

static bool double_of(const struct control_reply *reply, const char *key, double *ret_v)
{
	const char *value = control_reply_get(reply, key);

	return value && parse_double(value, ret_v);
}

/* ---- as text ---- */

static void status_put_line(const char *name, const char *text)
{
	screen_print_line(stdout, "%-12s%s", name, text);
}

static void status_print_events(const struct control_reply *reply)
{
	for (size_t i = 0; i < reply->fields.nr; i++) {
		if (!strncmp(reply->fields.at[i].key, "event.", 6))
			status_put_line("Event", reply->fields.at[i].value);
	}
}

static void status_print_samples(const struct control_reply *reply)
{
	char line[LINE_MAX_BYTES];
	uint64_t samples, lost;

	if (!status_number_of(reply, "samples", &samples))
		return;
	if (!status_number_of(reply, "lost", &lost))
		lost = 0;
	snprintf(line, sizeof(line),
		 "%" PRIu64 ", %" PRIu64 " lost (%.2f %%) since the daemon started",
		 samples, lost,
		 lost ? 100.0 * (double)lost / (double)(samples + lost) : 0);
	status_put_line("Samples", line);
}

/* Prints the kernel's cost of samples, which the daemon's CPU time does not include. */
static void status_print_kernel(const struct control_reply *reply)
{
	char line[LINE_MAX_BYTES];
	double share;

	if (!double_of(reply, "cost_kernel", &share))
		return;
	snprintf(line, sizeof(line), "about %.2f %% of one CPU, to take the samples",
		 100 * share);
	status_put_line("Kernel", line);
}

/* Prints the daemon's CPU time, such as "0.31 % of one CPU, 12.3 s in total"; omits what it does not
 * report. */
static void print_cpu(const struct control_reply *reply)
{
	char line[LINE_MAX_BYTES];
	double share, seconds;
	bool has_share = double_of(reply, "cost_cpu", &share);
	bool has_seconds = double_of(reply, "cpu_seconds", &seconds);
	size_t len = 0;

	if (has_share)
		len = (size_t)snprintf(line, sizeof(line), "%.2f %% of one CPU%s",
				       100 * share, has_seconds ? ", " : "");
	if (has_seconds)
		snprintf(line + len, sizeof(line) - len, "%.1f s in total", seconds);
	if (has_share || has_seconds)
		status_put_line("CPU", line);
}

static void print_tables(const struct control_reply *reply)
{
	char line[LINE_MAX_BYTES];
	uint64_t refused;

	if (!status_number_of(reply, "tables_refused", &refused) || !refused)
		return;
	snprintf(line, sizeof(line),
		 "%" PRIu64 " not made: their owners' CPU time for them was used up",
		 refused);
	status_put_line("Tables", line);
}

static void print_bytes(const struct control_reply *reply, const char *key,
			const char *name)
{
	char line[LINE_MAX_BYTES];
	uint64_t bytes;

	if (!status_number_of(reply, key, &bytes))
		return;
	snprintf(line, sizeof(line), "%.1f MB", (double)bytes / 1e6);
	status_put_line(name, line);
}

/* Prints the time of the oldest sample, such as "2026-11-22 08:30:05 (12 minutes ago)". */
static void print_oldest(const struct control_reply *reply)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = { { "days", 86400 },
		      { "hours", 3600 },
		      { "minutes", 60 },
		      { "seconds", 1 } };
	char when[LINE_MAX_BYTES / 2], line[LINE_MAX_BYTES];
	uint64_t oldest, now = (uint64_t)time(NULL);
	time_t at;
	struct tm tm;
	size_t i = 0;

	if (!status_number_of(reply, "oldest", &oldest))
		return;
	at = (time_t)oldest;
	if (!oldest || !localtime_r(&at, &tm)) {
		status_put_line("Oldest data", "none");
		return;
	}
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	now = now > oldest ? now - oldest : 0;
	/* Use the first unit that gives at least 2. */
	while (i < 3 && now < 2 * units[i].seconds)
		i++;
	snprintf(line, sizeof(line), "%s (%" PRIu64 " %s ago)", when,
		 now / units[i].seconds, units[i].name);
	status_put_line("Oldest data", line);
}

static void print_lines(const struct control_reply *reply)
{
	char line[LINE_MAX_BYTES];
	const char *governor = control_reply_get(reply, "governor");
	const char *metrics = control_reply_get(reply, "metrics");

	snprintf(line, sizeof(line), "%s, pid %s", status_text_of(reply, "state"),
		 status_text_of(reply, "pid"));
	status_put_line("Daemon", line);
	status_put_line("Session", status_text_of(reply, "session_dir"));
	status_print_events(reply);
	snprintf(line, sizeof(line), "%s samples per second and CPU",
		 status_text_of(reply, "rate"));
	status_put_line("Rate", strcmp(status_text_of(reply, "rate"), "0") != 0
					? line
					: "none: the events have counts");
	status_print_samples(reply);
	print_cpu(reply);
	status_print_kernel(reply);
	print_tables(reply);
	print_bytes(reply, "memory", "Memory");
	print_bytes(reply, "disk", "Disk");
	print_oldest(reply);
	if (governor && *governor)
		status_put_line("Governor", governor);
	if (metrics && *metrics) {
		snprintf(line, sizeof(line), "http://%s/metrics", metrics);
		status_put_line("Metrics", line);
	}
}

/* ---- as JSON ---- */

/* Adds a field of the daemon's reply to the JSON. Fields in `numbers` become numbers, all others
 * strings. */
static void put_field(struct json *j, const struct control_field *f)
{
	static const char *const numbers[] = { "pid",
					       "rate",
					       "samples",
					       "lost",
					       "memory",
					       "disk",
					       "oldest",
					       "tables_refused",
					       "buffer_size",
					       "buffer_watershed",
					       "cpu_buffer_size" };
	char text[32];
	uint64_t v;
	double share;

	if ((!strcmp(f->key, "cost_cpu") || !strcmp(f->key, "cost_kernel") ||
	     !strcmp(f->key, "cpu_seconds") || !strcmp(f->key, "tables_cpu_seconds")) &&
	    parse_double(f->value, &share)) {
		snprintf(text, sizeof(text), "%.6f", share);
		json_name(j, f->key);
		json_number(j, text);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (!strcmp(numbers[i], f->key) && parse_u64(f->value, &v)) {
			json_name(j, f->key);
			json_u64(j, v);
			return;
		}
	}
	json_member_text(j, f->key, f->value);
}

static void print_json(const struct control_reply *reply)
{
	struct json j = { .out = stdout };

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-status/1");
	json_name(&j, "events");
	json_begin_array(&j);
	for (size_t i = 0; i < reply->fields.nr; i++) {
		if (!strncmp(reply->fields.at[i].key, "event.", 6))
			json_text(&j, reply->fields.at[i].value);
	}
	json_end_array(&j);
	for (size_t i = 0; i < reply->fields.nr; i++) {
		if (strncmp(reply->fields.at[i].key, "event.", 6) != 0)
			put_field(&j, &reply->fields.at[i]);
	}
	json_end_object(&j);
	putchar('\n');
}

static int status_ask(struct control_reply *reply, struct err *err)
{
	static const char *const words[] = { "status", NULL };
	struct control_client daemon;
	int r = control_connect(&daemon, NULL, err);

	if (r)
		return r;
	daemon.timeout_ms = CONTROL_SOON_MS;
	r = control_request(&daemon, words, reply, err);
	control_disconnect(&daemon);
	return r;
}

static int status_run(const struct command *self, int argc, char **argv)
{
	struct control_reply reply = { 0 };
	struct status_settings set = { 0 };
	struct err err = { 0 };
	int first;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (r >= 0)
		return r;
	if (first < argc) {
		command_error("unexpected argument '%s'", argv[first]);
		return 1;
	}
	if (status_ask(&reply, &err)) {
		command_error("%s", err.text);
		return 1;
	}
	if (set.json)
		print_json(&reply);
	else
		print_lines(&reply);
	control_reply_done(&reply);
	return 0;
}

const struct command command_status = {
	.name = "status",
	.summary = "show what the daemon does and what it costs",
	.usage = "[--json]",
	.notes = "Exit status: 0 if a daemon answers, sampling or paused; else 1.",
	.options = rows,
	.run = status_run,
};
