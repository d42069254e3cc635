/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data.h - writes perf.data files that perf report and perf script can read.
 * Layer: format.  The format: docs/perf-data.md; Linux
 * tools/perf/Documentation/perf.data-file-format.txt.
 *
 * The writer keeps the header up to date. So a file that was not closed (process killed, disk
 * full) can be read up to the last flush; it only lacks the features. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

struct err;
struct perf_data_writer;

struct perf_data_event {
	/* The attr that was passed to perf_event_open(). */
	const struct perf_event_attr *attr;
	const char *name;
	const uint64_t *ids; /* from PERF_EVENT_IOC_ID; one per CPU (or ring buffer) */
	size_t nr_ids;
};

/* A binary with samples. `kernel` is also true for kernel modules. */
struct perf_data_build_id {
	const char *path; /* "[kernel.kallsyms]" for the kernel */
	struct build_id id;
	bool kernel;
};

/* Values for the feature sections. A feature is omitted if its field is NULL or 0 (unknown). */
struct perf_data_features {
	const char *hostname;
	const char *os_release;
	const char *version;
	const char *arch;
	const char *cpu_desc;
	uint32_t nr_cpus_available;
	uint32_t nr_cpus_online;
	uint64_t total_mem_kb;
	char *const *command; /* arguments */
	int nr_command;
	const struct perf_data_build_id *build_ids;
	size_t nr_build_ids;
	uint64_t first_ns, last_ns; /* times of the first and the last sample */
	int32_t clock_id;           /* clock of all times; < 0: unknown */
	uint64_t clock_wall_ns;     /* CLOCK_REALTIME at some moment */
	uint64_t clock_ns;          /* the recording's clock at the same moment */
};

/* Creates or truncates `path` and writes the header and the events, which are copied. Returns 0
 * and a writer for perf_data_writer_close(), or a negative errno with a message in *err. */
int perf_data_writer_open(const char *path, const struct perf_data_event *events,
			  size_t nr_events, struct perf_data_writer **ret_writer,
			  struct err *err);
/* Appends whole records as the kernel wrote them, in native byte order. The writer buffers them
 * and writes large blocks. After a write error (for example a full disk) nothing more is
 * written and every call returns the same error; the file then ends with a whole record. */
int perf_data_writer_write(struct perf_data_writer *w, const void *records, size_t len,
			   struct err *err);
/* Writes a mark at the end of a round, that is, a pass over all ring buffers. The mark tells
 * readers that all records older than the previous mark have been written, so they can sort and
 * deliver these. */
int perf_data_writer_finished_round(struct perf_data_writer *w, struct err *err);
/* Writes the buffered records. If the recorder is killed, only records added since then are
 * lost. */
int perf_data_writer_flush(struct perf_data_writer *w, struct err *err);
uint64_t perf_data_writer_bytes(const struct perf_data_writer *w);
/* Writes the features and completes the header. Closes and frees the writer in any case. Returns 0
 * or a negative errno. */
int perf_data_writer_close(struct perf_data_writer *w,
			   const struct perf_data_features *features, struct err *err);
