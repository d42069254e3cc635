/* input.h - a perf.data of whatever origin as a stream of raw records.
 * Layer: format.  Source of the layouts: tools/perf/Documentation/perf.data-file-format.txt,
 * <linux/perf_event.h>; docs/perf-data.md.
 *
 * File, pipe and directory look the same from here on: chunks of whole records, in the byte
 * order of the machine that recorded them.  What is about the file and not about the machine
 * (HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE, HEADER_BUILD_ID) goes into the info;
 * compressed records come out as what they hold; payloads that lie behind their record
 * (AUXTRACE, HEADER_TRACING_DATA) are stepped over.  Those records themselves are in the
 * chunks, too, except COMPRESSED ones.  Files are mapped in windows, which outlive that a
 * file becomes shorter (perf_chunk_is_lost()), never as a whole; what cannot be mapped is
 * read. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/session/dict.h"

struct err;
struct perf_input;

struct perf_input_event {
	struct perf_event_attr attr; /* native byte order; what the file lacks is 0 */
	char *name;                  /* as perf shows it: "cycles:u"; never NULL */
	VEC(uint64_t) ids;
};

/* A row of the build-id table, or a HEADER_BUILD_ID record. */
struct perf_input_build_id {
	int32_t pid; /* -1: the host's kernel and programs */
	uint16_t misc;
	struct build_id id;
	char *name;
};

/* simpleperf carries the symbols of the binaries that were hit. */
struct perf_input_symbol {
	uint64_t vaddr;
	uint32_t len;
	char *name;
};

struct perf_input_symbol_file {
	char *path;
	uint32_t type; /* simpleperf's DSO type: 0 kernel, 1 module, 2 ELF file, ... */
	uint64_t min_vaddr;
	uint64_t min_vaddr_offset; /* in the file */
	VEC(struct perf_input_symbol) symbols;
};

/* Code of a BPF program as the kernel ran it, or of one of its functions. */
struct perf_input_code {
	uint64_t address;
	uint32_t len;
	uint8_t *bytes;
};

enum {
	PERF_INPUT_FEATURES = 256
};

/* Strings are never NULL; "" and 0 stand for unknown. */
struct perf_input_info {
	bool swap; /* recorded in the other byte order */
	bool is_pipe;
	bool is_directory;
	bool is_simpleperf;
	bool interrupted; /* the header's data size is 0: perf was killed */
	uint64_t features[PERF_INPUT_FEATURES / 64];
	char *hostname;
	char *os_release;
	char *version; /* of perf */
	char *arch;    /* uname -m */
	char *cpu_desc;
	char *cpu_id;
	char *command; /* words, quoted for a shell */
	uint32_t nr_cpus_available;
	uint32_t nr_cpus_online;
	uint64_t total_mem_kb;
	uint64_t first_ns, last_ns; /* SAMPLE_TIME */
	int32_t clock_id;           /* CLOCK_DATA; -1 unknown */
	uint64_t clock_wall_ns;     /* CLOCK_REALTIME ... */
	uint64_t clock_ns;          /* ... and clock_id's time at the same moment */
	VEC(struct perf_input_event) events;
	VEC(struct perf_input_build_id) build_ids;
	VEC(struct perf_input_symbol_file) symbol_files;
	VEC(struct perf_input_code) codes;
};

/* What was skipped or missing; counted while the stream is read. */
struct perf_input_damage {
	uint64_t cut_bytes;     /* of an incomplete last record or frame */
	uint64_t missing_bytes; /* the header promises more data than there is */
	uint64_t bad_bytes;     /* skipped: records of impossible size, broken frames */
	uint64_t missing_files; /* of a directory */
	uint64_t bad_features;  /* header features that could not be read */
	uint64_t unknown_records; /* of kinds that nobody here knows: skipped by size */
	/* Not damage, but in no chunk: */
	uint64_t aux_bytes; /* AUXTRACE payload stepped over */
	struct perf_input_frames {
		uint64_t records, bytes;
	} frames[2]; /* COMPRESSED and COMPRESSED2 records that were taken */
};

/* Whole records, back to back. */
struct perf_chunk {
	const uint8_t *bytes;
	size_t len;
	uint64_t
		offset; /* of the first in the file; of compressed ones: of their frame */
	uint32_t part; /* file of a directory, else 0 */
	void *hold;    /* perf_input_release() */
};

enum {
	/* A chunk is not longer, except for a single record. */
	PERF_CHUNK_BYTES = 1 << 20
};

/* Opens a perf.data file, a directory with one, or "-" (standard input, a pipe).  For a pipe
 * everything up to the first record of the kernel is read, so that the events are known.
 * Standard input is read whoever wrote it; of all others, trust_check() decides.
 * -ENOENT, -EPERM, -EBADMSG (not a perf.data, or its header is of no use), -ENOMEM ... */
int perf_input_open(const char *path, enum trust trust, struct perf_input **ret_input,
		    struct err *err);
/* The same for an open descriptor, of any owner, which becomes the input's.  `name` is for messages. */
int perf_input_open_fd(int fd, const char *name, struct perf_input **ret_input,
		       struct err *err);
/* Whether these first bytes of a file (8 are enough) are those of a perf.data. */
bool perf_input_is_magic(const void *bytes, size_t len);
void perf_input_close(struct perf_input *in); /* NULL is fine */
/* It does not change after the opening, except that build-ids of a pipe come at its end. */
const struct perf_input_info *perf_input_info(const struct perf_input *in);
/* Complete once perf_input_next() has returned 1. */
const struct perf_input_damage *perf_input_damage(const struct perf_input *in);
/* For messages: "2 files missing, ", or nothing. */
struct perf_input_files_text {
	char text[48];
};
struct perf_input_files_text
perf_input_files_text(const struct perf_input_damage *damage);
/* The next chunk; it stays valid until it is released, from any thread.  0, 1 at the end,
 * or a negative errno (I/O, memory); damage is counted, not an error.  The records of a
 * directory's files come file by file. */
int perf_input_next(struct perf_input *in, struct perf_chunk *ret_chunk,
		    struct err *err);
/* The file became shorter, or its disk failed: the chunk reads as zeros from somewhere on.
 * To be asked after what was taken from the chunk was read. */
bool perf_chunk_is_lost(const struct perf_chunk *chunk);
/* Makes a chunk of `len` bytes to be filled by the caller, in place of another whose offset and part it
 * takes; both are released as ever.  What was read is let go earlier so.  0 or -ENOMEM. */
int perf_chunk_make(const struct perf_chunk *of, size_t len,
		    struct perf_chunk *ret_chunk, uint8_t **ret_bytes);
/* Whether chunks take more than a copy: they are compressed, or come from a pipe whose writer is still
 * at work.  Another thread then gains time; what is just copied costs more when it is handed from one
 * processor to another (docs/decisions, 0014). */
bool perf_input_is_work(const struct perf_input *in);
/* NULL `hold` is fine. */
void perf_input_release(struct perf_input *in, struct perf_chunk *chunk);
/* Bytes of data all in all (0 unknown: a pipe) and taken so far, for a progress display; any
 * thread may ask. */
void perf_input_progress(const struct perf_input *in, uint64_t *ret_done,
			 uint64_t *ret_total);
/* Back to the first chunk.  -ESPIPE for a pipe. */
int perf_input_rewind(struct perf_input *in, struct err *err);
