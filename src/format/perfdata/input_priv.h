/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_priv.h - internals of the perf.data reader.
 * Layer: format.  One thread reads; other threads can release windows. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "base/files/mapped.h"
#include "format/perfdata/data_priv.h"
#include "format/perfdata/input.h"

struct perf_unzip;

/* tools/lib/perf/include/perf/event.h, enum perf_user_event_type. */
enum {
	PERF_USER_HEADER_ATTR = 64,
	PERF_USER_TRACING_DATA = 66,
	PERF_USER_STAT_CONFIG = 75,
	PERF_USER_BUILD_ID = 67,
	PERF_USER_FINISHED_ROUND = 68,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_EVENT_UPDATE = 78,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83
};

/* ---- windows: the buffers that chunks point into ---- */

struct perf_window {
	struct perf_window *next_free;
	unsigned int refs; /* protected by the pool's lock */
	size_t len; /* number of bytes that are available; only the reading thread uses it */
	/* size of a window that is loaded at once, but made available cell by cell; 0: all of it
	 * is available */
	size_t filled;
	size_t room;    /* capacity in bytes; 0: `len` is the capacity */
	bool is_direct; /* allocated by perfdata/input_direct.c */
	size_t far; /* offset from which the data is in memory but in no CPU cache yet */
	struct mapped mapped;
	const uint8_t *bytes;
	uint8_t own[]; /* `room` bytes; `bytes` points here */
};

struct perf_windows {
	pthread_mutex_t lock; /* protects `free` and all `refs` */
	struct perf_window *free;
	struct perf_window *free_direct;
	size_t cell; /* PERF_CELL_BYTES, or PERF_LONG_CELL_BYTES */
};

/* A file is processed in cells, which begin at multiples of their size. A chunk ends where a cell
 * ends, or after the record that crosses that boundary. Windows that are read, mapped or filled by
 * direct I/O have the same boundaries, because these influence the results if timestamps are
 * damaged. */
enum {
	/* A cell, and the memory needed to process it, stays in a CPU's caches while its
	 * records are walked, decoded and resolved. */
	PERF_CELL_BYTES = 1 << 18,
	/* Data that other threads process is passed in larger blocks: unpacked data, and
	 * stacks, several of which are unwound together. */
	PERF_LONG_CELL_BYTES = 7 << 17,
	/* A common multiple of both cell sizes. */
	PERF_CELLS_BYTES = 7 << 18,
	/* The maximum number of bytes left over from the previous cell: one record, or the bytes
	 * in which input_resync.c searches for the next valid record. */
	PERF_LEFT_BYTES = 1 << 17
};

static_assert(PERF_CELLS_BYTES % PERF_CELL_BYTES == 0, "");
static_assert(PERF_CELLS_BYTES % PERF_LONG_CELL_BYTES == 0, "");
static_assert(PERF_LONG_CELL_BYTES + PERF_LEFT_BYTES <= PERF_CHUNK_BYTES, "");

void perf_windows_init(struct perf_windows *pool);
void perf_windows_done(struct perf_windows *pool);
/* Frees the unused windows of perfdata/input_direct.c. */
void perf_windows_free_direct(struct perf_windows *pool);
/* Returns an empty window with one reference, or NULL if memory is short. */
struct perf_window *perf_window_new(struct perf_windows *pool);
/* Maps `len` bytes of a file from `offset`, a multiple of the page size. Returns 0 or a negative
 * errno. After any error except -ENOMEM, the caller reads the file instead. */
int perf_window_map(int fd, uint64_t offset, size_t len, struct perf_window **ret_win);
/* Returns the window of the list that was released last, because that may still be in the CPU
 * cache. Returns NULL if the list is empty. */
struct perf_window *perf_window_again(struct perf_windows *pool,
				      struct perf_window **list);
/* Frees a window of perfdata/input_direct.c. */
void perf_window_free_direct(struct perf_window *win);
void perf_window_get(struct perf_windows *pool, struct perf_window *win);
/* Drops a reference to the window; accepts NULL. */
void perf_window_put(struct perf_windows *pool, struct perf_window *win);

/* ---- source of the bytes ---- */

/* One file of the recording. Only directories have more than one. */
struct perf_part {
	char *name;      /* name in the directory; NULL: the file that was opened */
	uint64_t offset; /* file offset of the first record */
	/* Number of bytes of data; UINT64_MAX: up to the end of the file. */
	uint64_t size;
};

struct perf_input_source {
	int fd;
	bool seekable;
	bool unmappable; /* mmap() failed */
	bool direct_was_asked;
	struct perf_direct *direct; /* NULL: the file is read or mapped */
	uint64_t at;                /* file offset of the next read */
	uint64_t end; /* file offset where the data ends; UINT64_MAX: unknown */
};

/* A stream of records and the window that is loaded from it. */
struct perf_level {
	struct perf_window *win;
	size_t pos; /* position in the window of the first record that was not delivered */
	uint64_t base; /* offset of the window in the stream */
	uint64_t skip; /* payload bytes still to skip at `pos` */
	/* stream offset up to which info records have been parsed */
	uint64_t info_seen;
};

enum perf_class {
	CLASS_UNKNOWN,
	CLASS_PLAIN,
	CLASS_INFO,         /* describes the file; parsed when it is read */
	CLASS_FIRST_SAMPLE, /* the first sample, before which the list of events is complete */
	CLASS_PAYLOAD, /* followed by a payload that does not consist of records */
	CLASS_COMPRESSED
};

enum {
	/* Number of types with a class in the table; larger types are simpleperf's or unknown. */
	PERF_CLASSES = 128,
	/* The largest valid type. The kernel's types start at 1, perf's at 64 and simpleperf's at
	 * 32768. */
	PERF_LAST_TYPE = 65535
};

struct perf_input {
	char *name; /* for messages */
	struct perf_input_info info;
	struct perf_input_damage damage;
	struct perf_windows windows;
	VEC(struct perf_part) parts;
	size_t part;      /* index of the part that is being read */
	int dir_fd;       /* the directory, else -1 */
	int main_fd;      /* the file with the header; parts[0] */
	enum trust trust; /* the owners whose files in a directory are read */
	/* Bytes of another recording that was appended to this one. */
	uint64_t appended_bytes;
	uint64_t packed_bad; /* damaged bytes of a compressed file */
	/* Feature DIR_FORMAT: 1 if there is one file per ring buffer. */
	uint64_t dir_version;
	uint64_t main_size;  /* bytes of the main file; UINT64_MAX: unknown */
	uint64_t done_bytes; /* bytes of the previous parts */
	uint64_t taken;      /* bytes read so far; atomic, any thread can read it */
	struct perf_input_source source;
	struct perf_level raw;
	/* The stream of records unpacked from compressed records. */
	struct perf_level plain;
	struct perf_unzip *unzip;
	uint64_t frame; /* file offset of the compressed record that was read last */
	/* COMPRESSED2 records before this offset lack their data size */
	uint64_t unsized_end;
	bool plain_more; /* `plain` has more data */
	bool plain_lost; /* damage in `plain`: search for its next valid record */
	bool at_end;
	bool frozen; /* a sample was read, so the events no longer change */
	uint8_t classes[PERF_CLASSES];
	/* By record type: maximum size of a record that is passed on unparsed; 0: such records are
	 * handled separately. */
	uint16_t limits[PERF_CLASSES];
	uint16_t least_sample;  /* minimum size of a sample */
	VEC(char *) desc_names; /* names from EVENT_DESC, by event index; may be NULL */
	/* Names of tracepoints from TRACING_DATA, for events without another name. */
	VEC(struct perf_tracepoint {
		uint64_t id;
		char *name;
	})
	tracepoints;
	struct buf tracing; /* the TRACING_DATA of a pipe, while it is read */
	bool keeps_tracing; /* the payload that is skipped is kept in `tracing` */
	VEC(struct perf_chunk) ahead; /* chunks that were read while opening */
	size_t nr_ahead_taken;
};

/* Starts reading part `index`. Returns 0 or a negative errno. */
int perf_part_open(struct perf_input *in, size_t index, struct err *err);
/* Lists the files of a directory after the main file, and counts the missing ones. */
int perf_parts_list(struct perf_input *in, struct err *err);
/* Reads up to `len` bytes of the part. Returns how many, 0 at the end, or a negative errno. */
ssize_t perf_source_read(struct perf_input *in, void *bytes, size_t len,
			 struct err *err);
/* Returns a window with the `nr_left` bytes at `left`, taken from the previous window, followed
 * by the file from `source.at`, which is advanced. If the file is not in the page cache, it is
 * read with direct I/O, several windows ahead. Returns 0, or -EAGAIN if the caller has to read
 * the file in another way. */
int perf_direct_next(struct perf_input *in, const uint8_t *left, size_t nr_left,
		     struct perf_window **ret_win);
/* Waits for all reads in flight, and frees the direct reader. */
void perf_direct_stop(struct perf_input *in);
/* Returns true if samples contain several KB of stack each. */
bool perf_source_has_stacks(const struct perf_input *in);
/* Returns whether mapping the file is faster than reading it, because most of it is data that is
 * not parsed, such as stacks. Otherwise copying the data costs less than page faults, and leaves
 * the records in the CPU cache. */
bool perf_source_is_sparse(const struct perf_input *in);
/* Maps the file from offset `from`, which is at most `source.at`. `source.at` moves to the end
 * of the window. Returns 0; 1 if nothing follows `source.at`; -EAGAIN if the file has to be
 * read; or -ENOMEM. */
int perf_source_map(struct perf_input *in, uint64_t from, struct perf_window **ret_win);
/* If the file has become shorter than the window at stream offset `base`, shortens the window
 * and the source to the end of the file, but the window at least keeps its first `pos` bytes.
 * Returns false if the file still contains the whole window. */
bool perf_source_cut(struct perf_input *in, struct perf_window *win, uint64_t base,
		     size_t pos);

/* Copies a perf.data file that arrives through a pipe to a temporary file, which replaces
 * in->source. `front` are the `len` bytes that were read already. Returns 0 or a negative
 * errno. */
int perf_source_spool(struct perf_input *in, const void *front, size_t len,
		      struct err *err);

/* Decompresses the source to a temporary file, which replaces it as in->source, at offset 0.
 * `front` are the `len` bytes that were read already. The temporary file ends before damaged data,
 * which is counted. Returns 0, -EBADMSG if it does not contain a perf.data file, or another
 * negative errno. */
int perf_source_unpack(struct perf_input *in, const void *front, size_t len,
		       struct err *err);

/* ---- records ---- */

/* The reason why perf_walk() stopped. */
enum perf_stop {
	STOP_SHORT, /* the rest of the window is not a whole record */
	STOP_PAYLOAD,
	STOP_COMPRESSED, /* a compressed record begins at `pos` */
	STOP_BAD,        /* the record has a size that is impossible for its type */
	STOP_HEADER      /* another recording begins */
};

struct perf_head {
	uint32_t type;
	uint16_t size;
};

static inline struct perf_head perf_head_at(const uint8_t *at, bool swap)
{
	struct perf_event_header h;

	memcpy(&h, at, sizeof(h));
	if (swap)
		return (struct perf_head){ __builtin_bswap32(h.type),
					   __builtin_bswap16(h.size) };
	return (struct perf_head){ h.type, h.size };
}

/* Returns the class of records of a type, an enum perf_class. */
uint8_t perf_class_of(struct perf_input *in, uint32_t type);
/* Returns the number of bytes that a record occupies in the file, or a number above `left` if that
 * is not known yet, because too little of the record is available. */
size_t perf_record_bytes(const uint8_t *at, size_t left, struct perf_head h, bool swap);
/* Finds the whole records from level->pos: sets *ret_len to their bytes and *ret_stop to the
 * reason why they end. Parses records about the file and counts the others. Returns 0 or
 * -ENOMEM. */
int perf_walk(struct perf_input *in, struct perf_level *level, size_t *ret_len,
	      enum perf_stop *ret_stop);
/* Finds the compressed data in the record of `size` bytes at `at`: everything after the header
 * or, if the record contains a data size, that many bytes. Returns false if the record is
 * malformed. */
bool perf_frame_of(struct perf_input *in, const uint8_t *at, size_t size,
		   struct perf_head h, const uint8_t **ret_bytes, size_t *ret_len);

/* Computes the minimum and maximum size of samples from the events. */
void perf_samples_measure(struct perf_input *in);

enum perf_found {
	FOUND_NONE, /* not in this window */
	FOUND_RECORDS,
	FOUND_HEADER /* the header of another recording */
};

/* Skips damaged bytes up to the next offset at which several valid records follow each other,
 * and counts the skipped bytes as bad. The result depends only on the bytes, not on how they are
 * split into windows. */
enum perf_found perf_records_find(struct perf_input *in, struct perf_level *level,
				  bool at_end);
/* Skips `len` bytes and counts them as bad. */
void perf_level_step(struct perf_input *in, struct perf_level *level, size_t len);

/* ---- stream ---- */

/* Moves to the first record. */
int perf_stream_start(struct perf_input *in, struct err *err);
/* Returns the next chunk as perf_input_next() does, except for the chunks that were read while
 * opening. */
int perf_stream_next(struct perf_input *in, struct perf_chunk *ret_chunk,
		     struct err *err);
void perf_level_done(struct perf_input *in, struct perf_level *level);
/* Starts a new window that begins with the rest of the old one. Returns 0 or -ENOMEM. */
int perf_level_rotate(struct perf_input *in, struct perf_level *level);

/* ---- compressed records ---- */

/* Creates a decompressor. Returns 0 or -ENOMEM. */
int perf_unzip_new(struct perf_unzip **ret_unzip);
void perf_unzip_free(struct perf_unzip *unzip);
/* Call when a new part begins, which has a separate compressed stream. */
void perf_unzip_reset(struct perf_unzip *unzip);
/* Call if bytes of the stream are missing: nothing more is unpacked until a new stream begins. */
void perf_unzip_break(struct perf_unzip *unzip);
/* Sets the next block of input. It is borrowed until perf_unzip_into() has consumed it. */
void perf_unzip_feed(struct perf_unzip *unzip, const void *bytes, size_t len);
bool perf_unzip_hungry(const struct perf_unzip *unzip);
/* Unpacks into the window from its `len`. Returns 0, or -EBADMSG if the stream is broken or
 * expands beyond the limit; *ret_bad is then the number of input bytes dropped. */
int perf_unzip_into(struct perf_unzip *unzip, struct perf_window *win,
		    uint64_t *ret_bad);
/* Call at the end of the stream. Returns the size of the last block of input if this block is
 * incomplete, else 0. */
size_t perf_unzip_unfinished(const struct perf_unzip *unzip);

/* ---- attrs and names of events ---- */

/* Reads an attr of `len` bytes in the cursor's byte order. Missing fields are 0. */
void perf_attr_decode(struct cursor *in, size_t len, struct perf_event_attr *ret_attr);
/* Returns the size of an attr, which is stored in its first 8 bytes. */
uint32_t perf_attr_bytes(const struct cursor *at);
/* Reads the attr table of a file into in->info.events. Returns 0, or a negative errno with a
 * message in *err; -EBADMSG: the table is damaged. */
int perf_attrs_read(struct perf_input *in, const struct perf_data_header *header,
		    struct err *err);
/* Returns perf's name for an event without a name, or NULL if memory is short. */
char *perf_event_name_make(const struct perf_event_attr *attr);
/* Parses TRACING_DATA. Returns 0, -EBADMSG or -ENOMEM. */
int perf_tracing_parse(struct perf_input *in, struct cursor *payload);
/* Returns the name of a tracepoint in TRACING_DATA, or NULL. */
const char *perf_tracepoint_name(const struct perf_input *in,
				 const struct perf_event_attr *attr);
/* Names every event that has no name. Returns 0 or -ENOMEM. */
int perf_events_name(struct perf_input *in);

/* Parses a record of CLASS_INFO, `len` bytes including its header. Returns 0 or -ENOMEM. A
 * malformed record is only counted. */
int perf_info_record(struct perf_input *in, uint32_t type, const void *bytes,
		     size_t len);

/* ---- header features ---- */

/* Reads the feature index after the data, and the features. Returns 0, -ENOMEM or an I/O error. */
int perf_features_read(struct perf_input *in, const struct perf_data_header *header,
		       struct err *err);
/* Parses the payload of a feature. Returns 0 (also for unsupported features), -EBADMSG or
 * -ENOMEM. */
int perf_feature_parse(struct perf_input *in, uint32_t bit, struct cursor *payload);
/* Reads `len` bytes at `offset` of the main file into `out`. Returns 0, -EBADMSG if the file ends
 * before, or another negative errno. */
int perf_file_read(struct perf_input *in, uint64_t offset, uint64_t len,
		   struct buf *out);
int perf_build_ids_parse(struct perf_input *in, struct cursor *payload);
/* Adds a build-id from an entry of the table or a record. `body` starts after the record header. */
int perf_build_id_add(struct perf_input *in, uint16_t misc, struct cursor *body);

/* ---- simpleperf ---- */

/* Parses META_INFO, a feature that only simpleperf writes, like FILE and FILE2, which
 * perf_simpleperf_files() and perf_simpleperf_files2() parse. Each function returns 0, -EBADMSG
 * or -ENOMEM. */
int perf_simpleperf_meta(struct perf_input *in, struct cursor *payload);
/* In input_bpf.c: parses the BPF programs of the recording into info.codes. Returns 0, -EBADMSG or
 * -ENOMEM. */
int perf_bpf_programs(struct perf_input *in, struct cursor *payload);
int perf_simpleperf_files(struct perf_input *in, struct cursor *payload);
int perf_simpleperf_files2(struct perf_input *in, struct cursor *payload);

/* Makes *field a copy of the first `len` bytes of `text`, up to a NUL. Returns 0 or -ENOMEM. */
int perf_text_set(char **field, const char *text, size_t len);
