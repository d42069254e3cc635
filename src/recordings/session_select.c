/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/session_select.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/selection/session_span.h"
#include "aggregate/selection/spec.h"
#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/tree.h"
#include "format/session/checksums.h"
#include "format/session/dict_merge.h"
#include "recordings/sample_filter.h"
#include "recordings/sample_weights.h"
#include "resolve/find/binary.h"
#include "resolve/jit/session.h"
#include "resolve/symbolize/naming.h"

enum {
	FLUSH_SAMPLES = 64 * 1024,
	DIR_MODE = 0700
};

/* A segment that is being copied. */
struct segment_select {
	const struct session_select_request *request;
	struct segment *segment;
	struct jit_session *jit; /* NULL: the session has no jitdump file */
	struct naming *naming;   /* NULL: no function is selected */
	struct script_filter filter;
	struct dict dict; /* of the new segment */
	struct dict_merge merge;
	struct segment_writer *writer;
	struct sample_weights weights;
	uint64_t nr_taken;   /* selected samples */
	uint64_t nr_samples; /* number of stored samples, after weighting */
	uint64_t nr_bad;
	size_t nr_events; /* number of the old dict's events seen so far */
};

/* ---- the samples ---- */

/* Returns the dict to which the specification applies: JIT code has its symbols in a separate dict.
 */
static const struct dict *named_dict(const struct segment_select *s)
{
	return s->jit ? jit_session_dict(s->jit) : segment_dict(s->segment);
}

/* Copies selected events, even those without samples, because reports list them. Returns 0 or
 * -ENOMEM. */
static int session_select_take_events(struct segment_select *s)
{
	const struct dict *d = segment_dict(s->segment);

	for (; s->nr_events < d->events.nr; s->nr_events++) {
		const struct event_desc *e = &d->events.at[s->nr_events];

		if (e->flags & EVENT_LOST ||
		    !spec_wants_event(s->request->spec, dict_str(d, e->name), e->count,
				      e->unit_mask))
			continue;
		if (dict_merge_event(&s->merge, (uint32_t)s->nr_events) == DICT_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Copies a sample with its weight if the filter selects it. `named` is the same sample, with the
 * numbers of named_dict(). */
static int session_select_take_sample(struct segment_select *s, struct sample sample,
				      const struct sample *named)
{
	uint64_t nr;
	int r = script_filter_wants(&s->filter, named);

	if (r <= 0)
		return r;
	nr = sample_weights_take(&s->weights, segment_dict(s->segment),
				 segment_info(s->segment), &sample);
	s->nr_taken++;
	if (!nr)
		return 0;
	r = dict_merge_sample(&s->merge, &sample);
	if (r == -EINVAL) {
		s->nr_taken--;
		s->nr_bad++;
		return 0;
	}
	for (uint64_t i = 0; !r && i < nr; i++)
		r = segment_writer_add(s->writer, &sample);
	s->nr_samples += r ? 0 : nr;
	return r;
}

/* Scales the totals of the recording by the selected share of the samples. */
static struct session_totals totals_of(const struct segment_select *s)
{
	const struct session_totals *from = segment_totals(s->segment);
	struct session_totals t = *from;
	double all = (double)(s->nr_taken + s->filter.skipped);
	double selected = (double)s->nr_taken * s->weights.weight;

	t.samples = s->nr_samples;
	if (all > 0) {
		t.lost = (uint64_t)((double)t.lost * selected / all + 0.5);
		t.dropped = (uint64_t)((double)t.dropped * selected / all + 0.5);
	}
	memset(t.event_shares, 0, sizeof(t.event_shares));
	for (size_t i = 0; i < s->merge.events.to.nr && i < SESSION_EVENT_SHARES; i++) {
		uint32_t to = s->merge.events.to.at[i];

		if (to < SESSION_EVENT_SHARES)
			t.event_shares[to] = from->event_shares[i];
	}
	return t;
}

/* Flushes the writer if it has many pending samples: a large weight can turn one batch into many
 * samples. */
static int session_select_flush(struct segment_select *s, struct err *err)
{
	const struct session_totals t = totals_of(s);

	if (segment_writer_pending(s->writer) < FLUSH_SAMPLES)
		return 0;
	return segment_writer_flush(s->writer, &t, err);
}

static int session_select_take_batch(struct segment_select *s,
				     const struct sample_batch *batch, struct err *err)
{
	struct sample_batch named = *batch;
	int r = session_select_take_events(s);

	if (!r && s->jit)
		r = jit_session_batch(s->jit, batch, &named);
	if (r)
		return err_set(err, r, "out of memory");
	for (size_t i = 0; !r && i < batch->nr; i++) {
		const struct sample at = sample_batch_at(&named, i);

		if (session_select_take_sample(s, sample_batch_at(batch, i), &at))
			return err_set(err, -ENOMEM, "out of memory");
		r = session_select_flush(s, err);
	}
	return r;
}

static int session_select_copy_samples(struct segment_select *s, struct err *err)
{
	struct sample_batch batch;
	int r;

	while (!(r = segment_next(s->segment, COLUMN_ALL, &batch, err)))
		if ((r = session_select_take_batch(s, &batch, err)))
			return r;
	if (r < 0)
		return r;
	return session_select_take_events(s) ? err_set(err, -ENOMEM, "out of memory")
					     : 0;
}

static int session_select_close_writer(struct segment_select *s, int r, struct err *err)
{
	const struct session_totals t = totals_of(s);
	int closed = segment_writer_close(s->writer, &t, r ? NULL : err);

	s->writer = NULL;
	return r ? r : closed;
}

/* ---- a segment ---- */

static int session_select_prepare(struct segment_select *s, struct session_span *span,
				  struct err *err)
{
	const struct session_select_request *q = s->request;
	const struct session_info *info = segment_info(s->segment);
	const struct dict *d = segment_dict(s->segment);
	int r = jit_session_new(q->from, d, info, &s->jit);

	if (!r && spec_has_symbols(q->spec))
		r = naming_new(named_dict(s), info, q->from, &s->naming);
	if (r)
		return err_set(err, r, "out of memory");
	if (s->naming) {
		naming_use(s->naming, q->locations);
		naming_recorded_in(s->naming, segment_path(s->segment));
	}
	script_filter_init(&s->filter, q->spec, named_dict(s), s->naming,
			   info->vmlinux);
	if (!span->start_ns)
		span->start_ns = info->start_ns;
	session_span_set_wall(span, info);
	return script_filter_times(&s->filter, span, err);
}

/* Copies the permissions and the file times. */
static void session_select_copy_mode(const struct stat *from, const char *to)
{
	const struct timespec times[] = { from->st_atim, from->st_mtim };

	(void)io_set_mode(to, from->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
	(void)io_set_times(to, times);
}

/* Creates a list of checksums for the copied files, if the session has one. The session's own
 * list cannot be copied, because it also lists files that are left out. */
static int session_select_begin_list(const struct segment_select *s, struct err *err)
{
	const struct session_select_request *q = s->request;
	int r = segment_info(s->segment)->flags & SESSION_CHECKSUMS
			? checksums_begin(q->to)
			: 0;

	return r ? err_sys(err, r, "cannot write '%s'", q->to) : 0;
}

static int select_open(struct segment_select *s, const char *path, const char *to,
		       struct session_span *span, struct err *err)
{
	struct stat st;
	const struct session_select_request *q = s->request;
	int r = session_select_prepare(s, span, err);

	if (!r)
		r = sample_weights_init(&s->weights, q->weight > 0 ? q->weight : 1,
					path, q->trust, err);
	if (!r)
		r = session_select_begin_list(s, err);
	if (!r)
		r = segment_writer_open(to, segment_info(s->segment), &s->dict,
					&s->writer, err);
	if (!r)
		r = session_select_close_writer(s, session_select_copy_samples(s, err),
						err);
	if (!r && !stat(path, &st))
		session_select_copy_mode(&st, to);
	return r;
}

static void add_result(const struct segment_select *s,
		       struct session_select_result *result)
{
	const struct segment_damage *d = segment_damage(s->segment);

	result->read += s->nr_taken;
	result->samples += s->nr_samples;
	result->skipped += s->filter.skipped;
	segment_damage_add(&result->damage, d);
	if (!d->bad_samples)
		result->damage.bad_samples += s->nr_bad;
	result->nr_unfinished += d->unfinished;
}

/* ---- the other files of the session ---- */

/* Copies a file of the session; `path` is its path there. Skips missing files, and symbolic
 * links, which could lead to any file of this machine. */
static int session_select_copy_file(const struct session_select_request *q,
				    const char *path, struct err *err)
{
	const char *name = path + strlen(q->from) + 1;
	int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;
	char *to;
	int r;

	if (err_is_absent(fd) || fd == -ELOOP)
		return 0;
	if (fd < 0)
		return err_sys(err, fd, "cannot read '%s'", path);
	if (asprintf(&to, "%s/%s", q->to, name) < 0) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	r = fstat(fd, &st) ? -errno : 0;
	if (!r && S_ISREG(st.st_mode) && access(to, F_OK)) {
		r = checksums_take(path, to);
		if (!r)
			r = io_copy(fd, to, (uint64_t)st.st_size, NULL);
		if (!r)
			session_select_copy_mode(&st, to);
	}
	if (r)
		r = err_sys(err, r, "cannot copy '%s'", path);
	close(fd);
	free(to);
	return r;
}

static int copy_named(const struct session_select_request *q, const char *name,
		      struct err *err)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", q->from, name) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = session_select_copy_file(q, path, err);
	free(path);
	return r;
}

static int session_select_make_dir(const struct session_select_request *q,
				   const char *name, struct err *err)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", q->to, name) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = io_make_dirs(path, DIR_MODE);
	if (r)
		r = err_sys(err, r, "cannot create '%s'", path);
	free(path);
	return r;
}

static int copy_kernel(const struct session_select_request *q, struct err *err)
{
	static const char *const names[] = { "kallsyms.zst", "modules",
					     "modules.kallsyms" };
	int r = 0;

	for (size_t i = 0; !r && i < COUNT_OF(names); i++)
		r = copy_named(q, names[i], err);
	return r;
}

/* Copies the session's copy of a binary, if it has one. */
static int copy_image(const struct session_select_request *q, const struct image *image,
		      enum binary_copy_of of, struct err *err)
{
	char *path = binary_copy_path(q->from, image, of);
	int r = 0;

	if (!path)
		return err_set(err, -ENOMEM, "out of memory");
	if (!access(path, F_OK) && image->kind == IMAGE_FILE)
		r = session_select_make_dir(q, "images", err);
	if (!r)
		r = session_select_copy_file(q, path, err);
	free(path);
	return r;
}

struct jit_copy {
	const struct session_select_request *request;
	struct err *err;
};

static int copy_jit_file(void *ctx, const struct tree_entry *entry)
{
	const struct jit_copy *c = ctx;

	return S_ISREG(entry->st.st_mode)
		       ? session_select_copy_file(c->request, entry->path, c->err)
		       : TREE_SKIP;
}

/* Copies the files in which process `pid` described the code that it generated. */
static int copy_jit(const struct session_select_request *q, int32_t pid,
		    struct err *err)
{
	struct jit_copy copy = { q, err };
	char *from;
	int r;

	if (asprintf(&from, "%s/jit/%" PRId32, q->from, pid) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	if (!access(from, F_OK)) {
		r = session_select_make_dir(q, from + strlen(q->from) + 1, err);
		if (!r)
			r = tree_walk(from, copy_jit_file, &copy, err);
	} else {
		r = err_is_absent(-errno)
			    ? 0
			    : err_sys(err, -errno, "cannot open '%s'", from);
	}
	free(from);
	return r;
}

static int copy_side_files(const struct segment_select *s, struct err *err)
{
	const struct session_select_request *q = s->request;
	bool kernel = false, anon = false;
	int r = 0;

	for (size_t i = 0; !r && i < s->dict.images.nr; i++) {
		const struct image *image = &s->dict.images.at[i];

		kernel |= image->kind == IMAGE_KERNEL || image->kind == IMAGE_MODULE ||
			  image->kind == IMAGE_KERNEL_UNMAPPED;
		if (image->kind == IMAGE_FILE || image->kind == IMAGE_VDSO)
			r = copy_image(q, image, BINARY_COPY_SHARED, err);
		if (!r && image->kind == IMAGE_FILE)
			r = copy_image(q, image, BINARY_COPY_OF_FILE, err);
		if (image->kind == IMAGE_ANON || image->kind == IMAGE_JIT) {
			r = copy_jit(q, image->pid, err);
			anon = true;
		}
	}
	/* A jitdump file can be stored under another pid of the process. */
	for (size_t i = 0; !r && anon && i < s->dict.threads.nr; i++)
		r = copy_jit(q, s->dict.threads.at[i].pid, err);
	if (!r && kernel)
		r = copy_kernel(q, err);
	return r;
}

/* ---- a session ---- */

static int select_segment(const struct session_select_request *q, const char *path,
			  struct session_span *span,
			  struct session_select_result *result, struct err *err)
{
	struct segment_select s = { .request = q };
	char *to = NULL;
	int r = segment_open(path, q->trust, &s.segment, err);

	if (r)
		return r;
	dict_merge_init(&s.merge, segment_dict(s.segment), &s.dict);
	if (asprintf(&to, "%s%s", q->to, strrchr(path, '/')) < 0) {
		to = NULL;
		r = err_set(err, -ENOMEM, "out of memory");
	}
	if (!r && dict_init(&s.dict))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = select_open(&s, path, to, span, err);
	if (!r)
		r = copy_side_files(&s, err);
	if (!r)
		add_result(&s, result);
	script_filter_done(&s.filter);
	sample_weights_done(&s.weights);
	naming_free(s.naming);
	jit_session_free(s.jit);
	dict_merge_done(&s.merge);
	dict_done(&s.dict);
	segment_close(s.segment);
	free(to);
	return r;
}

int session_select(const struct session_select_request *request,
		   struct session_select_result *result, struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int r = session_list(request->from, &paths, &nr, err);

	if (r)
		return r;
	if (spec_has_shares(request->spec) &&
	    session_span_read(paths, nr, request->trust, &span))
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < nr; i++)
		r = select_segment(request, paths[i], &span, result, err);
	session_list_free(paths, nr);
	return r;
}
