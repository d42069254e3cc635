/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/daemon_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "daemon/server/control_server.h"

enum kind {
	KIND_FLAG,
	KIND_NUMBER,
	KIND_TIME,  /* a number; 0: unknown */
	KIND_SHARE, /* a ratio; omitted if unknown */
	KIND_SECONDS
};

enum {
	VALUE_BYTES = 40
};

#define FIELD(name) offsetof(struct daemon_numbers, name)

static const struct daemon_numbers_row {
	const char *key; /* name in the status; NULL: not in the status */
	enum kind kind;
	size_t field;
	const char *metric; /* NULL: not a metric */
	const char *type;
	const char *help;
} rows[] = {
	{ NULL, KIND_FLAG, FIELD(is_sampling), "oprofile_sampling", "gauge",
	  "1 while it samples, 0 while it is paused." },
	{ "rate", KIND_NUMBER, FIELD(rate_hz), "oprofile_rate_hertz", "gauge",
	  "Requested samples per second and CPU." },
	{ "samples", KIND_NUMBER, FIELD(samples), NULL, NULL, NULL },
	{ NULL, KIND_NUMBER, FIELD(taken), "oprofile_samples_total", "counter",
	  "Samples taken." },
	{ "lost", KIND_NUMBER, FIELD(lost), "oprofile_lost_samples_total", "counter",
	  "Samples that the kernel lost, or that were dropped because memory was short or the disk was full." },
	{ "cost_cpu", KIND_SHARE, FIELD(share), "oprofile_cpu_ratio", "gauge",
	  "CPU use of the daemon at the last check, as a share of one CPU." },
	{ "cost_kernel", KIND_SHARE, FIELD(kernel_share), "oprofile_kernel_cpu_ratio",
	  "gauge",
	  "Estimated CPU use of the kernel for sampling, as a share of one CPU." },
	{ "cpu_seconds", KIND_SECONDS, FIELD(cpu_ns), "oprofile_cpu_seconds_total",
	  "counter", "CPU time of the daemon's processes." },
	{ "tables_cpu_seconds", KIND_SECONDS, FIELD(tables_ns),
	  "oprofile_user_tables_cpu_seconds_total", "counter",
	  "CPU time for unwind tables of users' binaries; "
	  "not counted against the rate." },
	{ "tables_refused", KIND_NUMBER, FIELD(tables_refused),
	  "oprofile_user_tables_refused_total", "counter",
	  "Unwind tables of users' binaries that were not made because the CPU budget was used up." },
	{ "memory", KIND_NUMBER, FIELD(memory), "oprofile_resident_memory_bytes",
	  "gauge", "Resident memory of the daemon." },
	{ "disk", KIND_NUMBER, FIELD(disk), "oprofile_session_bytes", "gauge",
	  "Size of the current session's segments." },
	{ "oldest", KIND_TIME, FIELD(oldest),
	  "oprofile_oldest_sample_timestamp_seconds", "gauge",
	  "Time of the oldest sample in the current session." },
};

/* Formats one value. Returns false if it is unknown. */
static bool format(const struct daemon_numbers *n, const struct daemon_numbers_row *row,
		   char ret_value[VALUE_BYTES])
{
	const void *at = (const char *)n + row->field;
	uint64_t number = 0;

	if (row->kind == KIND_FLAG) {
		number = *(const bool *)at;
	} else if (row->kind == KIND_SHARE) {
		double share = *(const double *)at;

		snprintf(ret_value, VALUE_BYTES, "%.5f", share);
		return n->has_share && share >= 0;
	} else {
		memcpy(&number, at, sizeof(number));
	}
	if (row->kind == KIND_SECONDS)
		snprintf(ret_value, VALUE_BYTES, "%" PRIu64 ".%03" PRIu64,
			 number / NS_PER_S, number / NS_PER_MS % 1000);
	else
		snprintf(ret_value, VALUE_BYTES, "%" PRIu64, number);
	return true;
}

void daemon_numbers_put_status(const struct daemon_numbers *n, struct buf *reply)
{
	char value[VALUE_BYTES];

	for (const struct daemon_numbers_row *row = rows; row < rows + COUNT_OF(rows);
	     row++)
		if (row->key && format(n, row, value))
			control_put_field(reply, row->key, "%s", value);
}

static void daemon_numbers_put_head(struct buf *out, const char *name, const char *type,
				    const char *help)
{
	char lines[256];
	int len = snprintf(lines, sizeof(lines), "# HELP %s %s\n# TYPE %s %s\n", name,
			   help, name, type);

	buf_put(out, lines, (size_t)len);
}

static void put_cpus(const struct daemon_numbers *n, struct buf *out)
{
	static const char name[] = "oprofile_cpu_samples_total";
	char line[96];

	daemon_numbers_put_head(out, name, "counter", "Samples taken on each CPU.");
	for (size_t i = 0; i < n->nr_cpus; i++) {
		int len = snprintf(line, sizeof(line), "%s{cpu=\"%zu\"} %" PRIu64 "\n",
				   name, i, n->cpu_samples[i]);

		buf_put(out, line, (size_t)len);
	}
}

void daemon_numbers_put_metrics(const struct daemon_numbers *n, struct buf *out)
{
	char value[VALUE_BYTES];
	char line[128];

	for (const struct daemon_numbers_row *row = rows; row < rows + COUNT_OF(rows);
	     row++) {
		int len;

		if (!row->metric || !format(n, row, value) ||
		    (row->kind == KIND_TIME && !n->oldest))
			continue;
		daemon_numbers_put_head(out, row->metric, row->type, row->help);
		len = snprintf(line, sizeof(line), "%s %s\n", row->metric, value);
		buf_put(out, line, (size_t)len);
	}
	put_cpus(n, out);
}
