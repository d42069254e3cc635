/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_data_out.h - the perf.data that `operf --perf-data` writes in addition to the session.
 * Layer: record. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

struct err;
struct event_request;
struct machine;
struct perf_data_out;
struct perf_event_attr;
struct perf_source;
struct record;

/* Creates the file. Returns 0, or a negative errno with a message in *err that names the file. */
int perf_data_out_open(const char *path, const struct perf_source *source,
		       const struct event_request *events, size_t nr_events,
		       struct perf_data_out **ret_out, struct err *err);
/* Adds a sample's time to the time range stored in the file. */
void perf_data_out_saw(struct perf_data_out *o, uint64_t time_ns);
/* Appends a record. Returns 0 or a negative errno with a message in *err, as
 * perf_data_writer_write() does. */
int perf_data_out_write(struct perf_data_out *o, const void *record, size_t len,
			struct err *err);
/* The addresses of a sample's callers in user space, innermost first. */
struct perf_data_callers {
	const uint64_t *at;
	size_t nr;
};
/* Writes the sample in the record `bytes` without its copied stack but with its callers. `rec`
 * is the decoded record, `attr` the attr that its event was opened with. Returns 0, or a
 * negative errno with a message in *err. */
int perf_data_out_sample(struct perf_data_out *o, const struct perf_event_attr *attr,
			 const struct record *rec, const void *bytes,
			 struct perf_data_callers callers, struct err *err);
/* Writes a round mark (PERF_RECORD_FINISHED_ROUND): no record that follows is older than the
 * previous mark. Then writes the buffered data to the file. Returns 0, or a negative errno with a
 * message in *err. */
int perf_data_out_round(struct perf_data_out *o, struct err *err);
/* Adds the features, including the build-ids of the images with samples, closes the file and
 * frees `o`. Returns 0, or a negative errno with a message in *err. */
int perf_data_out_close(struct perf_data_out *o, const struct dict *dict,
			const struct machine *machine, char *const *command,
			int nr_command, struct err *err);
