/* data.h - writing perf.data files that perf report and perf script read.
 * Layer: format.  The format: docs/perf-data.md; Linux
 * tools/perf/Documentation/perf.data-file-format.txt.
 *
 * A file that was not closed (killed, full disk) is readable up to the last flush: the
 * header is kept up to date, and it only lacks the features. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

struct err;
struct perf_data_writer;

struct perf_data_event {
	const struct perf_event_attr *attr; /* as it was opened */
	const char *name;
	const uint64_t *ids; /* one a CPU (or ring): what PERF_EVENT_IOC_ID gave */
	size_t nr_ids;
};

/* An image that was hit; `kernel` also for modules. */
struct perf_data_build_id {
	const char *path; /* "[kernel.kallsyms]" for the kernel */
	struct build_id id;
	bool kernel;
};

/* What is known at the end.  NULL or 0: unknown, the feature is left out. */
struct perf_data_features {
	const char *hostname;
	const char *os_release;
	const char *version;
	const char *arch;
	const char *cpu_desc;
	uint32_t nr_cpus_available;
	uint32_t nr_cpus_online;
	uint64_t total_mem_kb;
	char *const *command; /* words */
	int nr_command;
	const struct perf_data_build_id *build_ids;
	size_t nr_build_ids;
	uint64_t first_ns, last_ns; /* of the samples, session clock */
	int32_t clock_id;           /* of all times; < 0 unknown */
	uint64_t clock_wall_ns;     /* CLOCK_REALTIME ... */
	uint64_t clock_ns;          /* ... and the session clock at the same moment */
};

/* Creates or truncates `path` and writes header and events, which are copied.
 * 0 or a negative errno. */
int perf_data_writer_open(const char *path, const struct perf_data_event *events,
			  size_t nr_events, struct perf_data_writer **ret_writer,
			  struct err *err);
/* Appends whole records as the kernel wrote them, native byte order; kept in a buffer and
 * written in large pieces.  After an error (a full disk) nothing more is written, every
 * call returns the same error, and what is there ends with a whole record. */
int perf_data_writer_write(struct perf_data_writer *w, const void *records, size_t len,
			   struct err *err);
/* All records older than this moment but one round have been written: readers may sort and
 * deliver what lies before the previous mark.  (A ring drained in turn ends a round.) */
int perf_data_writer_finished_round(struct perf_data_writer *w, struct err *err);
/* Writes out what is buffered: at most what came since is lost if the recorder is killed. */
int perf_data_writer_flush(struct perf_data_writer *w, struct err *err);
uint64_t perf_data_writer_bytes(const struct perf_data_writer *w);
/* Writes the features, completes the header, and frees; the writer is gone even on an
 * error. */
int perf_data_writer_close(struct perf_data_writer *w,
			   const struct perf_data_features *features, struct err *err);
