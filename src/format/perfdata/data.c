/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "format/perfdata/data_priv.h"

enum {
	BUFFER_BYTES = 1 << 18,
	RECORD_FINISHED_ROUND = 68 /* PERF_RECORD_FINISHED_ROUND of tools/perf */
};

struct perf_data_writer {
	int fd;
	/* the first write error (negative errno); nothing more is written after it */
	int failed;
	uint64_t written; /* bytes in the file; it ends with a whole record */
	struct buf pending;
	struct perf_data_events events;
	struct perf_data_header header;
};

/* Copies an event to the writer. On an error, the caller frees the partial copy together with the
 * other events. */
static int copy_event(struct perf_data_events *events,
		      const struct perf_data_event *event)
{
	struct perf_data_event_row *own;

	if (!vec_grow(events))
		return -ENOMEM;
	own = &events->at[events->nr++];
	own->attr = *event->attr;
	/* the size of the entries in the attr table */
	own->attr.size = sizeof(own->attr);
	own->name = strdup(event->name);
	own->nr_ids = event->nr_ids;
	own->ids = calloc(event->nr_ids + 1, sizeof(*own->ids));
	if (!own->name || !own->ids)
		return -ENOMEM;
	if (event->nr_ids)
		memcpy(own->ids, event->ids, event->nr_ids * sizeof(*own->ids));
	return 0;
}

static void events_free(struct perf_data_events *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		free(events->at[i].name);
		free(events->at[i].ids);
	}
	vec_done(events);
}

static void perf_data_writer_free(struct perf_data_writer *w)
{
	if (w->fd >= 0)
		(void)close(w->fd);
	buf_done(&w->pending);
	events_free(&w->events);
	free(w);
}

/* Queues everything that precedes the data: the header, the ids and the attr table. */
static void put_front(struct perf_data_writer *w)
{
	struct perf_data_header *h = &w->header;
	struct buf *b = &w->pending;
	uint64_t ids_at = sizeof(*h);

	h->magic = PERF_DATA_MAGIC;
	h->size = sizeof(*h);
	h->attr_size =
		sizeof(struct perf_event_attr) + sizeof(struct perf_data_section);
	/* a placeholder: overwritten below with the complete header */
	buf_put(b, h, sizeof(*h));
	for (size_t i = 0; i < w->events.nr; i++)
		buf_put(b, w->events.at[i].ids,
			w->events.at[i].nr_ids * sizeof(uint64_t));
	h->attrs.offset = b->len;
	for (size_t i = 0; i < w->events.nr; i++) {
		const struct perf_data_event_row *e = &w->events.at[i];
		struct perf_data_section ids = { ids_at, e->nr_ids * sizeof(uint64_t) };

		buf_put(b, &e->attr, sizeof(e->attr));
		buf_put(b, &ids, sizeof(ids));
		ids_at += ids.size;
	}
	h->attrs.size = b->len - h->attrs.offset;
	h->data.offset = b->len;
	if (!b->failed && b->data)
		memcpy(b->data, h, sizeof(*h));
}

/* Truncates a file that existed before, and removes the permissions of other users, who could read
 * the recording. Returns 0 or a negative errno. */
static int perf_data_empty(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if ((st.st_mode & (S_IRWXG | S_IRWXO) && fchmod(fd, st.st_mode & S_IRWXU)) ||
	    ftruncate(fd, 0))
		return -errno;
	return 0;
}

/* Creates the file with mode 0600, as perf does: a recording shows which programs the user runs.
 * Returns a descriptor or a negative errno with a message. */
static int perf_data_create(const char *path, struct err *err)
{
	int fd = output_open(path, O_RDWR, 0600, err);
	int r = fd < 0 ? fd : perf_data_empty(fd);

	if (r && fd >= 0)
		close(fd);
	return r ? r : fd;
}

int perf_data_writer_open(const char *path, const struct perf_data_event *events,
			  size_t nr_events, struct perf_data_writer **ret_writer,
			  struct err *err)
{
	struct perf_data_writer *w = calloc(1, sizeof(*w));
	struct err why = { 0 };
	int r = 0;

	if (!w)
		return err_sys(err, -ENOMEM, "cannot write '%s'", path);
	w->fd = -1;
	for (size_t i = 0; i < nr_events && r == 0; i++)
		r = copy_event(&w->events, &events[i]);
	if (r == 0) {
		put_front(w);
		r = w->pending.failed ? -ENOMEM : 0;
	}
	if (r == 0)
		r = w->fd = perf_data_create(path, &why);
	if (r >= 0)
		r = perf_data_writer_flush(w, NULL);
	if (r < 0) {
		perf_data_writer_free(w);
		return why.code ? err_set(err, r, "%s", why.text)
				: err_sys(err, r, "cannot write '%s'", path);
	}
	*ret_writer = w;
	return 0;
}

static int write_header(const struct perf_data_writer *w)
{
	ssize_t n = pwrite(w->fd, &w->header, sizeof(w->header), 0);

	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(w->header) ? 0 : -EIO;
}

/* Appends to the file. If the write fails, truncates the file to the last whole record. */
static int perf_data_write_out(struct perf_data_writer *w, const void *bytes,
			       size_t len)
{
	int r;

	if (w->failed)
		return w->failed;
	r = io_write_all(w->fd, bytes, len);
	if (r == 0) {
		w->written += len;
		return 0;
	}
	w->failed = r;
	if (ftruncate(w->fd, (off_t)w->written) < 0)
		/* If this fails also, the last record stays incomplete, which readers report. */
		w->failed = r;
	return w->failed;
}

/* Appends to the file, and then updates data.size in the header, so that perf can read an
 * interrupted recording: perf stops if data.size is 0 (6.1: "failed to process sample"). After a
 * failed write, sets it to 0, so that an incomplete recording does not look complete. */
static int write_data(struct perf_data_writer *w, const void *bytes, size_t len)
{
	int r = perf_data_write_out(w, bytes, len);

	if (r < 0) {
		w->header.data.size = 0;
		(void)write_header(w);
		return r;
	}
	w->header.data.size = w->written - w->header.data.offset;
	return w->failed = write_header(w);
}

int perf_data_writer_flush(struct perf_data_writer *w, struct err *err)
{
	int r;

	if (w->failed || w->pending.len) {
		r = write_data(w, w->pending.data, w->pending.len);
		if (r < 0)
			return err_sys(err, r, "cannot write the perf.data file");
		buf_clear(&w->pending);
	}
	return 0;
}

int perf_data_writer_write(struct perf_data_writer *w, const void *records, size_t len,
			   struct err *err)
{
	int r = w->failed;

	if (r == 0 && w->pending.len + len > BUFFER_BYTES)
		r = perf_data_writer_flush(w, NULL);
	if (r == 0 && len >= BUFFER_BYTES) {
		r = write_data(w, records, len);
	} else if (r == 0) {
		buf_put(&w->pending, records, len);
		if (w->pending.failed)
			r = w->failed = -ENOMEM;
	}
	return r < 0 ? err_sys(err, r, "cannot write the perf.data file") : 0;
}

int perf_data_writer_finished_round(struct perf_data_writer *w, struct err *err)
{
	struct perf_event_header round = { .type = RECORD_FINISHED_ROUND,
					   .size = sizeof(round) };

	return perf_data_writer_write(w, &round, sizeof(round), err);
}

uint64_t perf_data_writer_bytes(const struct perf_data_writer *w)
{
	return w->written + w->pending.len;
}

/* Writes the feature index and the features after the data, and the header that refers to them
 * last. */
static int write_end(struct perf_data_writer *w,
		     const struct perf_data_features *features)
{
	struct buf out = { 0 };
	int r;

	r = perf_data_writer_flush(w, NULL);
	if (r < 0)
		return r;
	perf_data_put_features(features, &w->events, w->written, &out, &w->header);
	r = out.failed ? -ENOMEM : perf_data_write_out(w, out.data, out.len);
	buf_done(&out);
	/* After an error, keep the old header: the file then has no features but can be read. */
	if (r == 0)
		r = write_header(w);
	return r;
}

int perf_data_writer_close(struct perf_data_writer *w,
			   const struct perf_data_features *features, struct err *err)
{
	int r = write_end(w, features);

	if (close(w->fd) < 0 && r == 0)
		r = -errno;
	w->fd = -1;
	perf_data_writer_free(w);
	return r < 0 ? err_sys(err, r, "cannot write the perf.data file") : 0;
}
