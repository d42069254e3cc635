/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input.h - reads a perf.data file, pipe or directory as a stream of raw records.
 * Layer: format. Source of the layouts: tools/perf/Documentation/perf.data-file-format.txt,
 * <linux/perf_event.h>; docs/perf-data.md.
 *
 * A file, a pipe and a directory all give chunks of whole records, in the byte order of the
 * recording machine. Records that describe the file (HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE,
 * HEADER_BUILD_ID) fill perf_input_info; they are also in the chunks. Compressed records are
 * replaced by their contents. Payloads that follow their record (AUXTRACE, HEADER_TRACING_DATA)
 * are skipped. Files are mapped in windows, never as a whole. A window stays valid if the file is
 * truncated (see perf_chunk_is_lost()). A file that cannot be mapped is read. */
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
	/* in native byte order; fields that the file lacks are 0 */
	struct perf_event_attr attr;
	char *name; /* the name that perf shows, such as "cycles:u"; never NULL */
	VEC(uint64_t) ids;
};

/* One entry of the build-id table, or one HEADER_BUILD_ID record. */
struct perf_input_build_id {
	int32_t pid; /* -1: the host's kernel and programs */
	uint16_t misc;
	struct build_id id;
	char *name;
};

/* A symbol from a recording of simpleperf, which contains the symbols of the binaries with
 * samples. */
struct perf_input_symbol {
	uint64_t vaddr;
	uint32_t len;
	char *name;
};

struct perf_input_symbol_file {
	char *path;
	uint32_t type; /* simpleperf's DSO type: 0 kernel, 1 module, 2 ELF file, ... */
	uint64_t min_vaddr;
	uint64_t min_vaddr_offset; /* file offset of min_vaddr */
	VEC(struct perf_input_symbol) symbols;
};

/* Machine code of a BPF program or of a function in it, as the kernel ran it. */
struct perf_input_code {
	uint64_t address;
	uint32_t len;
	uint8_t *bytes;
};

enum {
	PERF_INPUT_FEATURES = 256
};

/* Strings are never NULL. "" and 0 mean unknown. */
struct perf_input_info {
	bool swap; /* recorded in the opposite byte order */
	bool is_pipe;
	bool is_directory;
	bool is_simpleperf;
	/* The file is from `perf stat record` and has counts instead of samples. */
	bool is_stat;
	bool interrupted; /* the header's data size is 0: perf was killed */
	uint64_t features[PERF_INPUT_FEATURES / 64];
	char *hostname;
	char *os_release;
	char *version;      /* perf's version */
	char *arch;         /* uname -m */
	uint32_t e_machine; /* EM_... */
	char *cpu_desc;
	char *cpu_id;
	char *command; /* arguments, quoted for a shell */
	uint32_t nr_cpus_available;
	uint32_t nr_cpus_online;
	uint64_t total_mem_kb;
	uint32_t cache_line_bytes;
	/* times of the first and last sample, from the feature SAMPLE_TIME */
	uint64_t first_ns, last_ns;
	/* clock of all times, from the feature CLOCK_DATA; -1: unknown */
	int32_t clock_id;
	uint64_t clock_wall_ns; /* CLOCK_REALTIME at some moment */
	uint64_t clock_ns;      /* time of the clock `clock_id` at that moment */
	VEC(struct perf_input_event) events;
	VEC(struct perf_input_build_id) build_ids;
	VEC(struct perf_input_symbol_file) symbol_files;
	VEC(struct perf_input_code) codes;
};

/* Data that was skipped or missing. The counts grow while the stream is read. */
struct perf_input_damage {
	uint64_t cut_bytes;     /* bytes in an incomplete last record or frame */
	uint64_t missing_bytes; /* bytes that the header announces but the file lacks */
	/* Bytes skipped: records of impossible size, broken frames. */
	uint64_t bad_bytes;
	uint64_t missing_files;   /* number of files that are missing in a directory */
	uint64_t bad_features;    /* number of header features that could not be read */
	uint64_t unknown_records; /* records of unknown types, which were skipped */
	/* The following data is not damaged, but it is also not in the chunks: */
	uint64_t aux_bytes; /* bytes of AUXTRACE payload that were skipped */
	struct perf_input_frames {
		uint64_t records, bytes;
	} frames[2]; /* COMPRESSED and COMPRESSED2 records that were unpacked */
};

/* Consecutive whole records. */
struct perf_chunk {
	const uint8_t *bytes;
	size_t len;
	uint64_t
		offset; /* file offset of the first record, or of its compressed frame */
	uint32_t part;  /* index of the file in a directory, else 0 */
	void *hold;     /* owner of the bytes; perf_input_release() releases it */
};

enum {
	/* A chunk is never longer, unless it is a single record. */
	PERF_CHUNK_BYTES = 1 << 20
};

/* Opens a perf.data file, a directory that contains one, or "-" (standard input, which can be a
 * pipe). If the input is a pipe, opening reads everything up to the first sample, so that the
 * events are known. A file that is compressed as a whole (gzip, xz, zstd, bzip2) is decompressed
 * to a temporary file. trust_check() decides whose files are read; standard input is always read.
 * Returns 0, or a negative errno with a message in *err: -ENOENT, -EPERM, -EBADMSG (not a
 * perf.data file, or its header is unusable), -ENOMEM ... */
int perf_input_open(const char *path, enum trust trust, struct perf_input **ret_input,
		    struct err *err);
/* Like perf_input_open(), for an open file with any owner; takes ownership of `fd`, even on an
 * error. `name` is used in messages. */
int perf_input_open_fd(int fd, const char *name, struct perf_input **ret_input,
		       struct err *err);
/* Returns true if a file that begins with these bytes (8 are enough) is a perf.data file. */
bool perf_input_is_magic(const void *bytes, size_t len);
/* Like perf_input_is_magic(), but also returns true for a file of the first format, for which
 * perf_input_open() returns an error with an explanation. */
bool perf_input_is_perf(const void *bytes, size_t len);
/* Returns true if a file that begins with these bytes (8 are enough) is compressed by gzip, xz,
 * zstd or bzip2: it can be a compressed perf.data file. */
bool perf_input_is_packed(const void *bytes, size_t len);
/* Decompresses the beginning of a compressed file, and returns whether the result begins like a
 * perf.data file. Reads at most PERF_PACKED_HEAD_BYTES. */
bool perf_input_is_packed_magic(uint8_t *bytes, size_t len);
enum {
	/* Enough for the first block of bzip2, which has up to 900 kB. */
	PERF_PACKED_HEAD_BYTES = 1 << 20
};
void perf_input_close(struct perf_input *in); /* accepts NULL */
/* Returns the properties of the file. They do not change after opening, except that the build-ids
 * of a pipe arrive at its end. */
const struct perf_input_info *perf_input_info(const struct perf_input *in);
/* Returns whether a regular file contains the whole data section that its header announces. */
bool perf_input_is_complete(const struct perf_input *in);
/* Returns the damage found so far; it is complete once perf_input_next() has returned 1. */
const struct perf_input_damage *perf_input_damage(const struct perf_input *in);
/* Part of a message with the number of missing files, such as "2 files missing, "; "" if none
 * are missing. */
struct perf_input_files_text {
	char text[48];
};
struct perf_input_files_text
perf_input_files_text(const struct perf_input_damage *damage);
/* Reads the next chunk, which stays valid until any thread releases it. Returns 0, 1 at the end,
 * or a negative errno (I/O, memory). Damage is counted and not an error. The files of a directory
 * are read one after the other. */
int perf_input_next(struct perf_input *in, struct perf_chunk *ret_chunk,
		    struct err *err);
/* Returns true if the file was truncated or its disk failed, so that the chunk reads as zeros
 * from some offset on. Check this after you have read the chunk. */
bool perf_chunk_is_lost(const struct perf_chunk *chunk);
/* Makes a chunk of `len` bytes, which the caller fills, to be used in place of the chunk `of`:
 * it gets the same offset and part. Either can be released first; release both with
 * perf_input_release(). Returns 0 or -ENOMEM. */
int perf_chunk_make(const struct perf_chunk *of, size_t len,
		    struct perf_chunk *ret_chunk, uint8_t **ret_bytes);
/* Returns whether a separate thread for reading saves time: the records are compressed, or come
 * from a pipe whose writer is still running. Otherwise passing the data from one CPU to another
 * costs more than it saves (docs/decisions/0014). */
bool perf_input_is_work(const struct perf_input *in);
/* Releases a chunk; its bytes must not be used any more. Does nothing if chunk->hold is NULL. */
void perf_input_release(struct perf_input *in, struct perf_chunk *chunk);
/* Stores the bytes read so far and the total bytes of data (0: unknown, as for a pipe), for a
 * progress display. Any thread can call it. */
void perf_input_progress(const struct perf_input *in, uint64_t *ret_done,
			 uint64_t *ret_total);
/* Makes perf_input_next() return the first chunk again. Returns 0, -ESPIPE for a pipe, or another
 * negative errno. */
int perf_input_rewind(struct perf_input *in, struct err *err);
