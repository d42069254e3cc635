/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.c - reads a segment file block by block. */
#include "format/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "format/session/block_reader.h"
#include "format/session/dict_block.h"
#include "format/session/info.h"
#include "format/session/sample_block.h"

struct segment {
	int fd;
	char *path;
	struct block_reader blocks;
	struct session_info info;
	struct session_totals totals;
	struct segment_damage damage;
	uint64_t bad_contents; /* blocks with a valid checksum but invalid contents */
	uint64_t nr_samples;   /* number of samples in the blocks read so far */
	struct dict dict;
	bool holes; /* the dict has holes */
	/* a recorder was writing the file when it was opened, so its end may have been written
	 * after we read it */
	bool was_written;
	struct dict_scratch scratch;
	struct sample_columns columns;
	struct column_decoder decoder;
};

void segment_close(struct segment *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	block_reader_done(&s->blocks);
	session_info_done(&s->info);
	dict_done(&s->dict);
	dict_scratch_done(&s->scratch);
	sample_columns_done(&s->columns);
	column_decoder_done(&s->decoder);
	free(s);
}

const struct session_info *segment_info(const struct segment *s)
{
	return &s->info;
}

const char *segment_path(const struct segment *s)
{
	return s->path;
}

const struct dict *segment_dict(const struct segment *s)
{
	return &s->dict;
}

const struct session_totals *segment_totals(const struct segment *s)
{
	return &s->totals;
}

const struct segment_damage *segment_damage(const struct segment *s)
{
	return &s->damage;
}

/* Reads the file header and the first block, which must be intact. */
static int session_reader_read_info(struct segment *s)
{
	struct block_header header;
	struct cursor payload;
	int r = block_reader_init(&s->blocks, s->fd);

	if (r)
		return r;
	r = block_reader_next(&s->blocks, &header, &payload);
	if (r < 0)
		return r;
	if (r || s->blocks.bad_blocks || header.type != BLOCK_INFO)
		return -EBADMSG;
	return session_info_get(&payload, &s->info);
}

static int open_err(struct err *err, int r, const char *path)
{
	if (r == -EBADMSG)
		return err_set(err, r,
			       "'%s' is not a session file, or its header is damaged",
			       path);
	if (r == -EPROTONOSUPPORT)
		return err_set(err, r,
			       "'%s' was written by a newer version of oprofile", path);
	return err_sys(err, r, "cannot read '%s'", path);
}

/* Returns whether a recorder is still writing the file: it then holds a lock, and the missing end
 * is not damage. */
bool segment_is_written(const struct segment *s)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(s->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Initializes the parts of a segment. On an error, the caller calls segment_close(), which accepts
 * a partially initialized object. */
static int session_reader_set_up(struct segment *s, const char *path)
{
	int r;

	s->path = strdup(path);
	if (!s->path)
		return -ENOMEM;
	r = dict_init(&s->dict);
	if (!r)
		r = column_decoder_init(&s->decoder);
	return r ? r : session_reader_read_info(s);
}

static int open_fd(int fd, const char *path, struct segment **ret_segment,
		   struct err *err)
{
	struct segment *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (s) {
		s->fd = fd;
		s->totals.target_status = -1;
		s->damage.unfinished = true;
		s->was_written = segment_is_written(s);
		r = session_reader_set_up(s, path);
	}
	if (r) {
		if (s)
			s->fd = -1; /* after an error, the caller still owns the descriptor */
		segment_close(s);
		return open_err(err, r, path);
	}
	*ret_segment = s;
	return 0;
}

int segment_open_fd(int fd, struct segment **ret_segment, struct err *err)
{
	return open_fd(fd, "session", ret_segment, err);
}

int segment_open(const char *path, enum trust trust, struct segment **ret_segment,
		 struct err *err)
{
	/* Use O_NONBLOCK, because the path can be a FIFO, which is rejected afterwards. */
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return open_err(err, fd, path);
	r = trust_check(fd, trust, path, err);
	if (!r)
		r = open_fd(fd, path, ret_segment, err);
	if (r)
		close(fd);
	return r;
}

static bool thread_lost(const struct dict *d, uint32_t thread)
{
	return d->threads.at[thread].flags & THREAD_LOST;
}

static bool event_lost(const struct dict *d, uint32_t event)
{
	return d->events.at[event].flags & EVENT_LOST;
}

static bool stack_lost(const struct dict *d, uint32_t stack)
{
	return stack >= STACK_FIRST && d->stacks.at[stack].frame == DICT_NONE;
}

/* Replaces numbers of missing or lost entries by DICT_NONE, and marks the samples with such
 * numbers as bad. */
static void replace_unknown(struct segment *s, uint32_t *numbers, size_t nr_known,
			    bool (*lost)(const struct dict *d, uint32_t number))
{
	size_t nr = s->columns.nr;
	bool all_known = true;

	for (size_t i = 0; i < nr; i++)
		all_known &= numbers[i] < nr_known;
	if (all_known && !s->holes)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (numbers[i] == DICT_NONE ||
		    (numbers[i] < nr_known && !lost(&s->dict, numbers[i])))
			continue;
		numbers[i] = DICT_NONE;
		s->columns.bad[i] = 1;
	}
}

static void repair_columns(struct segment *s, unsigned int columns)
{
	struct sample_columns *c = &s->columns;

	memset(c->bad, 0, c->nr);
	if (columns & COLUMN_THREAD)
		replace_unknown(s, c->thread, s->dict.threads.nr, thread_lost);
	if (columns & COLUMN_EVENT)
		replace_unknown(s, c->event, s->dict.events.nr, event_lost);
	if (columns & COLUMN_STACK)
		replace_unknown(s, c->stack, s->dict.stacks.nr, stack_lost);
	for (size_t i = 0; i < c->nr; i++)
		s->damage.bad_samples += c->bad[i];
}

static int session_reader_take_samples(struct segment *s, struct cursor *payload,
				       unsigned int columns,
				       struct sample_batch *ret_batch)
{
	const struct sample_columns *c = &s->columns;
	int r = sample_unpack(&s->columns, payload, columns, &s->scratch.ends,
			      &s->decoder);

	if (r)
		return r;
	s->nr_samples += c->nr;
	repair_columns(s, columns);
	*ret_batch = (struct sample_batch){
		.nr = c->nr,
		.time_ns = columns & COLUMN_TIME ? c->time_ns : NULL,
		.period = columns & COLUMN_PERIOD ? c->period : NULL,
		.thread = columns & COLUMN_THREAD ? c->thread : NULL,
		.event = columns & COLUMN_EVENT ? c->event : NULL,
		.stack = columns & COLUMN_STACK ? c->stack : NULL,
		.cpu = columns & COLUMN_CPU ? c->cpu : NULL,
	};
	return 0;
}

bool segment_damage_any(const struct segment_damage *d)
{
	return d->bad_blocks || d->cut_bytes || d->bad_samples || d->missing_samples ||
	       d->unfinished;
}

void segment_damage_add(struct segment_damage *sum, const struct segment_damage *d)
{
	sum->bad_blocks += d->bad_blocks;
	sum->cut_bytes += d->cut_bytes;
	sum->bad_samples += d->bad_samples;
	sum->missing_samples += d->missing_samples;
	sum->unfinished |= d->unfinished;
}

/* Completes the damage at the end of the file. A missing end is not damage while a recorder is
 * still writing. The last totals block contains the number of all samples before it; compares it
 * with the number of samples read. A difference is the only sign of a block that was removed
 * completely, so it is logged with the file's name. */
static void session_reader_end(struct segment *s)
{
	struct segment_damage *d = &s->damage;

	if (d->unfinished && (s->was_written || segment_is_written(s))) {
		d->unfinished = false;
		d->cut_bytes = 0;
	}
	if (s->totals.samples <= s->nr_samples)
		return;
	d->missing_samples = s->totals.samples - s->nr_samples;
	if (!d->bad_blocks)
		log_say_once(LOG_WARNING,
			     "'%s': %" PRIu64 " of %" PRIu64
			     " samples are missing: blocks were removed from the file",
			     s->path, d->missing_samples, s->totals.samples);
}

/* Processes any block except samples. Returns 0, -EBADMSG or -ENOMEM. */
static int take_block(struct segment *s, uint8_t type, struct cursor *payload)
{
	switch (type) {
	case BLOCK_DICT:
		return dict_unpack(&s->dict, payload, &s->scratch, &s->decoder,
				   &s->holes);
	case BLOCK_TOTALS:
		return session_totals_get(payload, &s->totals);
	case BLOCK_END:
		s->damage.unfinished = false;
		return 0;
	default:
		return 0; /* a block type of a newer minor version */
	}
}

int segment_next(struct segment *s, unsigned int columns,
		 struct sample_batch *ret_batch, struct err *err)
{
	struct block_header header;
	struct cursor payload;
	bool found = false;
	int r;

	columns &= COLUMN_ALL;
	while (!found && !(r = block_reader_next(&s->blocks, &header, &payload))) {
		if (header.type == BLOCK_SAMPLES) {
			r = session_reader_take_samples(s, &payload, columns,
							ret_batch);
			found = !r;
		} else {
			r = take_block(s, header.type, &payload);
		}
		if (r == -EBADMSG) {
			s->bad_contents++;
			r = 0;
		}
		if (r)
			break;
	}
	s->damage.bad_blocks = s->blocks.bad_blocks + s->bad_contents;
	s->damage.cut_bytes = s->blocks.cut_bytes;
	if (r == 1)
		session_reader_end(s);
	return r < 0 ? err_sys(err, r, "cannot read '%s'", s->path) : r;
}

void segment_progress(const struct segment *s, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = s->blocks.pos;
	*ret_total = s->blocks.size;
}
