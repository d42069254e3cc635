/* input_priv.h - the parts of the reader of perf.data.
 * Layer: format.  One thread reads; windows may be let go by another. */
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
	PERF_USER_BUILD_ID = 67,
	PERF_USER_FINISHED_ROUND = 68,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_EVENT_UPDATE = 78,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83
};

/* ---- windows: what chunks are slices of ---- */

struct perf_window {
	struct perf_window *next_free;
	unsigned int refs; /* under the pool's lock */
	size_t len;        /* bytes that are at hand; the reading thread's */
	size_t filled;     /* ... and will be, cell by cell; 0: no more than those */
	size_t room;       /* ... and could be; 0: no more than there is */
	bool is_direct;    /* of perfdata/input_direct.c */
	size_t far; /* where it begins that no processor's cache has what the disk wrote */
	struct mapped mapped;
	const uint8_t *bytes;
	uint8_t own[]; /* `room` bytes, which `bytes` points to */
};

struct perf_windows {
	pthread_mutex_t lock; /* of `free` and of all `refs` */
	struct perf_window *free;
	struct perf_window *free_direct;
	size_t cell; /* PERF_CELL_BYTES, or PERF_LONG_CELL_BYTES */
};

/* The bytes of a file are at hand by cells, which begin at multiples of their size: chunks end where
 * cells do, but for the record that lies across, and are the same in windows that are read, mapped
 * or filled by the disk.  Where times are damaged, what is reported depends on chunks. */
enum {
	/* It stays in a processor's caches while its records are walked over, decoded and resolved,
	 * with what that takes. */
	PERF_CELL_BYTES = 1 << 18,
	/* What other threads have to do with goes in larger pieces: what is unpacked, and stacks, some
	 * of which are unwound together. */
	PERF_LONG_CELL_BYTES = 7 << 17,
	/* Cells of both sizes end here. */
	PERF_CELLS_BYTES = 7 << 18,
	/* What may be left of the cell before: a record, or what a new beginning is looked for in. */
	PERF_LEFT_BYTES = 1 << 17
};

static_assert(PERF_CELLS_BYTES % PERF_CELL_BYTES == 0, "");
static_assert(PERF_CELLS_BYTES % PERF_LONG_CELL_BYTES == 0, "");
static_assert(PERF_LONG_CELL_BYTES + PERF_LEFT_BYTES <= PERF_CHUNK_BYTES, "");

void perf_windows_init(struct perf_windows *pool);
void perf_windows_done(struct perf_windows *pool);
/* Of the windows of perfdata/input_direct.c those that nobody uses. */
void perf_windows_free_direct(struct perf_windows *pool);
/* An empty one, with one reference, or NULL. */
struct perf_window *perf_window_new(struct perf_windows *pool);
/* One that is `len` bytes of a file from `offset` on, a multiple of the page size.  0 or a
 * negative errno; all but -ENOMEM mean that it has to be read. */
int perf_window_map(int fd, uint64_t offset, size_t len, struct perf_window **ret_win);
/* The window of a list of the pool that was let go last, which is still in the cache; or NULL. */
struct perf_window *perf_window_again(struct perf_windows *pool,
				      struct perf_window **list);
/* The end of one of perfdata/input_direct.c. */
void perf_window_free_direct(struct perf_window *win);
void perf_window_get(struct perf_windows *pool, struct perf_window *win);
void perf_window_put(struct perf_windows *pool, struct perf_window *win); /* or NULL */

/* ---- where the bytes come from ---- */

/* One file of the recording: all but a directory have one. */
struct perf_part {
	char *name;      /* in the directory; NULL: the file that was opened */
	uint64_t offset; /* of the first record */
	uint64_t size;   /* of the data; UINT64_MAX: to the end of the file */
};

struct perf_input_source {
	int fd;
	bool seekable;
	bool unmappable; /* mmap() refused */
	bool direct_was_asked;
	struct perf_direct *direct; /* NULL: it is read, or mapped */
	uint64_t at;                /* where the next read begins */
	uint64_t end;               /* where the data ends; UINT64_MAX unknown */
};

/* A run of records, of which a window is at hand. */
struct perf_level {
	struct perf_window *win;
	size_t pos;         /* in the window: the first record that was not delivered */
	uint64_t base;      /* of the window in the stream */
	uint64_t skip;      /* bytes of payload to be stepped over at `pos` */
	uint64_t info_seen; /* records before this place have told what they know */
};

enum perf_class {
	CLASS_UNKNOWN,
	CLASS_PLAIN,
	CLASS_INFO,         /* about the file: read here */
	CLASS_FIRST_SAMPLE, /* no more events behind it */
	CLASS_PAYLOAD,      /* bytes follow that are no records */
	CLASS_COMPRESSED
};

enum {
	PERF_CLASSES = 128, /* types from here on are simpleperf's or unknown */
	/* The kernel numbers them from 1 on, perf from 64, simpleperf from 32768. */
	PERF_LAST_TYPE = 65535
};

struct perf_input {
	char *name; /* for messages */
	struct perf_input_info info;
	struct perf_input_damage damage;
	struct perf_windows windows;
	VEC(struct perf_part) parts;
	size_t part;          /* index of the one that is read */
	int dir_fd;           /* of a directory, else -1 */
	int main_fd;          /* the file with the header; parts[0] */
	enum trust trust;     /* in the other files of a directory */
	uint64_t behind;      /* bytes of another recording behind this one */
	uint64_t dir_version; /* DIR_FORMAT: 1 if each buffer has its file */
	uint64_t main_size;   /* bytes of that file; UINT64_MAX unknown */
	uint64_t done_bytes;  /* of the parts before */
	uint64_t taken;       /* bytes in all; atomic: any thread may look */
	struct perf_input_source source;
	struct perf_level raw;
	struct perf_level plain; /* what came out of compressed records */
	struct perf_unzip *unzip;
	uint64_t frame;       /* offset of the compressed record that was taken last */
	uint64_t unsized_end; /* COMPRESSED2 records before do not know their size */
	bool plain_more;      /* there is something to be had from `plain` */
	bool plain_lost;      /* it goes on where records are found in `plain` */
	bool at_end;
	bool frozen; /* a sample was met: events do not change any more */
	uint8_t classes[PERF_CLASSES];
	/* Of those that are simply passed on: no record is longer.  0: others. */
	uint16_t limits[PERF_CLASSES];
	uint16_t least_sample;  /* no sample is shorter */
	VEC(char *) desc_names; /* of EVENT_DESC, by the event's number; may be NULL */
	VEC(struct perf_chunk) ahead; /* read while opening */
	size_t nr_ahead_taken;
};

/* Begins with part `index`.  0 or a negative errno. */
int perf_part_open(struct perf_input *in, size_t index, struct err *err);
/* Lists the files of a directory behind the one with the header, and counts those that are not there. */
int perf_parts_list(struct perf_input *in, struct err *err);
/* Up to `len` bytes of the part; how many, 0 at the end, or a negative errno. */
ssize_t perf_source_read(struct perf_input *in, void *bytes, size_t len,
			 struct err *err);
/* A window that begins with the `nr_left` bytes at `left`, of the window before, and goes on with the
 * file from `source.at` on, which moves to its end: read past the page cache, if the file is not
 * there, and with the next ones on their way.  0, or -EAGAIN: it is to be had in another way. */
int perf_direct_next(struct perf_input *in, const uint8_t *left, size_t nr_left,
		     struct perf_window **ret_win);
/* Nothing is on its way any more. */
void perf_direct_stop(struct perf_input *in);
/* Whether samples bring some KB of stack. */
bool perf_source_has_stacks(const struct perf_input *in);
/* Whether windows of the file are better mapped than read: most of it is stacks and the
 * like, which nobody looks at.  Otherwise the system's copy is cheaper than its page faults,
 * and leaves the records in the cache. */
bool perf_source_is_sparse(const struct perf_input *in);
/* Maps the file from `from` on, a place before `source.at`, which moves to the end of the
 * window.  0; 1: nothing follows source.at; -EAGAIN: it is to be read; or -ENOMEM. */
int perf_source_map(struct perf_input *in, uint64_t from, struct perf_window **ret_win);
/* Where a window at `base` turned out to be longer than the file is by now, both end there,
 * but not before `pos` of the window.  False if it is not longer. */
bool perf_source_cut(struct perf_input *in, struct perf_window *win, uint64_t base,
		     size_t pos);

/* A file that is no pipe's comes through a pipe: from here on in->source is a copy of it, of
 * which `front` was read already.  0 or a negative errno. */
int perf_source_spool(struct perf_input *in, const void *front, size_t len,
		      struct err *err);

/* ---- records ---- */

/* Why a walk over records ended. */
enum perf_stop {
	STOP_SHORT, /* what is left is not a whole record */
	STOP_PAYLOAD,
	STOP_COMPRESSED, /* at `pos` */
	STOP_BAD,        /* no record can be so small, or be such a one and so large */
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

/* enum perf_class */
uint8_t perf_class_of(struct perf_input *in, uint32_t type);
/* The bytes that a record takes in the file; more than `left` if too little of it is there
 * to tell. */
size_t perf_record_bytes(const uint8_t *at, size_t left, struct perf_head h, bool swap);
/* The run of whole records at level->pos: *ret_len bytes, and why it ends.  Records about
 * the file are read on the way, the others counted.  0 or -ENOMEM. */
int perf_walk(struct perf_input *in, struct perf_level *level, size_t *ret_len,
	      enum perf_stop *ret_stop);
/* Where the stream's bytes lie in the compressed record at in->raw, of `size` bytes: all
 * behind its header, or, with a size of their own, as many as that says.  False if it is
 * malformed. */
bool perf_frame_of(struct perf_input *in, const uint8_t *at, size_t size,
		   struct perf_head h, const uint8_t **ret_bytes, size_t *ret_len);

/* What the events tell of their samples' sizes. */
void perf_samples_measure(struct perf_input *in);

enum perf_found {
	FOUND_NONE, /* as far as the window goes */
	FOUND_RECORDS,
	FOUND_HEADER /* of another recording */
};

/* Moves over what is no record, to where some are in a row; it counts as damaged.  What this finds
 * depends on the bytes only, not on how they come. */
enum perf_found perf_records_find(struct perf_input *in, struct perf_level *level,
				  bool at_end);
/* Moves over `len` damaged bytes. */
void perf_level_step(struct perf_input *in, struct perf_level *level, size_t len);

/* ---- stream ---- */

/* Sets everything to the first record. */
int perf_stream_start(struct perf_input *in, struct err *err);
/* perf_input_next() without the chunks that were read ahead. */
int perf_stream_next(struct perf_input *in, struct perf_chunk *ret_chunk,
		     struct err *err);
void perf_level_done(struct perf_input *in, struct perf_level *level);
/* A new window with what is left of the old one in front.  0 or -ENOMEM. */
int perf_level_rotate(struct perf_input *in, struct perf_level *level);

/* ---- compressed records ---- */

/* 0 or -ENOMEM. */
int perf_unzip_new(struct perf_unzip **ret_unzip);
void perf_unzip_free(struct perf_unzip *unzip);
/* A new part begins: its stream is one of its own. */
void perf_unzip_reset(struct perf_unzip *unzip);
/* A piece of the stream is missing. */
void perf_unzip_break(struct perf_unzip *unzip);
/* The next piece of the stream, borrowed until it is used up. */
void perf_unzip_feed(struct perf_unzip *unzip, const void *bytes, size_t len);
bool perf_unzip_hungry(const struct perf_unzip *unzip);
/* Fills the window from its `len` on.  0, or -EBADMSG: the stream is broken, or unpacks to more than is
 * believed; then *ret_bad is how many bytes of input were given up. */
int perf_unzip_into(struct perf_unzip *unzip, struct perf_window *win,
		    uint64_t *ret_bad);

/* ---- attrs and what names them ---- */

/* Reads an attr of `len` bytes in the cursor's byte order.  What it does not have is 0. */
void perf_attr_decode(struct cursor *in, size_t len, struct perf_event_attr *ret_attr);
/* The size that an attr says it has: of the 8 first bytes. */
uint32_t perf_attr_bytes(const struct cursor *at);
/* The table of attrs of a file.  0, -EBADMSG, ... */
int perf_attrs_read(struct perf_input *in, const struct perf_data_header *header,
		    struct err *err);
/* What perf calls an event that was not given a name.  NULL: memory is short. */
char *perf_event_name_make(const struct perf_event_attr *attr);
/* Gives every event a name.  0 or -ENOMEM. */
int perf_events_name(struct perf_input *in);

/* A record of CLASS_INFO, `len` bytes with its header.  0 or -ENOMEM; a malformed one is
 * counted. */
int perf_info_record(struct perf_input *in, uint32_t type, const void *bytes,
		     size_t len);

/* ---- header features ---- */

/* The index of features behind the data, and the features.  0, -ENOMEM or an I/O error. */
int perf_features_read(struct perf_input *in, const struct perf_data_header *header,
		       struct err *err);
/* One feature's payload.  0 (also for one that is not read here), -EBADMSG, -ENOMEM. */
int perf_feature_parse(struct perf_input *in, uint32_t bit, struct cursor *payload);
/* `len` bytes at `offset` of the file with the header into `out`.  -EBADMSG if they are not
 * all there. */
int perf_file_read(struct perf_input *in, uint64_t offset, uint64_t len,
		   struct buf *out);
int perf_build_ids_parse(struct perf_input *in, struct cursor *payload);
/* The body of one, behind its record header. */
int perf_build_id_add(struct perf_input *in, uint16_t misc, struct cursor *body);

/* ---- simpleperf ---- */

int perf_simpleperf_meta(struct perf_input *in, struct cursor *payload);
/* Of perfdata/input_bpf.c: info.codes. */
int perf_bpf_programs(struct perf_input *in, struct cursor *payload);
int perf_simpleperf_files(struct perf_input *in, struct cursor *payload);
int perf_simpleperf_files2(struct perf_input *in, struct cursor *payload);

/* Makes *field a copy of the first `len` bytes of `text` (less from a NUL on).
 * 0 or -ENOMEM. */
int perf_text_set(char **field, const char *text, size_t len);
