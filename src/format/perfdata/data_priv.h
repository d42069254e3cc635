/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data_priv.h - the structures of a perf.data file, in the byte order of the recording machine.
 * Layer: format.  Source: tools/perf/Documentation/perf.data-file-format.txt. */
#pragma once
#include <assert.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "format/perfdata/data.h"

/* "PERFILE2" read as a little-endian number; on a big-endian machine the bytes are reversed. */
#define PERF_DATA_MAGIC 0x32454c4946524550ULL

struct perf_data_section {
	uint64_t offset; /* from the start of the file */
	uint64_t size;   /* bytes */
};

struct perf_data_header {
	uint64_t magic;
	uint64_t size; /* size of this header */
	/* Size of an entry of `attrs`: an attr, and the section of the event's ids. */
	uint64_t attr_size;
	struct perf_data_section attrs;
	struct perf_data_section data;        /* size 0: up to the end of the file */
	struct perf_data_section event_types; /* written by old versions of perf */
	uint64_t features[4]; /* bit mask of the features in the index after the data */
};
static_assert(sizeof(struct perf_data_header) == 104, "perf_file_header of tools/perf");

/* The writer's copy of a struct perf_data_event. */
struct perf_data_event_row {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t nr_ids;
};

struct perf_data_events {
	struct perf_data_event_row *at;
	size_t nr, cap;
};

/* Appends the feature index and the features to `out`, which will be written at `offset` of the
 * file, and sets their bits in the header. Sets out->failed if memory is short. */
void perf_data_put_features(const struct perf_data_features *features,
			    const struct perf_data_events *events, uint64_t offset,
			    struct buf *out, struct perf_data_header *header);
