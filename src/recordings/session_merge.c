/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/session_merge.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/selection/spec.h"
#include "archive/read/open.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/scratch.h"
#include "base/log.h"
#include "format/session/checksums.h"
#include "format/session/session.h"
#include "import/file.h"
#include "recordings/session_parts.h"
#include "recordings/session_select.h"
#include "recordings/sources.h"
#include "resolve/find/binary.h"

enum {
	DIR_MODE = 0755,
	LABEL_MAX = 60,
	ORIGIN_MAX = 64 * 1024
};

struct session_merge {
	char *path;
	struct scratch *scratch;
	char *dir;   /* in the scratch directory: becomes `path` */
	char *parts; /* below it */
};

/* One session of an input, and the part made from it. */
struct merge_part {
	struct session_merge *merge;
	const struct session_merge_input *input;
	const struct report_session *from;
	char *dir;
	struct session_merge_result *result;
};

static int merge_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static int merge_make_dir(const char *path, mode_t mode, struct err *err)
{
	int r = io_make_dirs(path, mode);

	return r ? err_sys(err, r, "cannot create '%s'", path) : 0;
}

static int merge_make_dirs(struct session_merge *m, struct err *err)
{
	char *samples = NULL;
	int r;

	if (asprintf(&m->dir, "%s/new", scratch_folder(m->scratch)) < 0 ||
	    asprintf(&samples, "%s/samples", m->dir) < 0 ||
	    asprintf(&m->parts, "%s/current/" SESSION_PARTS, samples) < 0) {
		free(samples);
		return merge_no_memory(err);
	}
	r = merge_make_dir(samples, DIR_MODE, err);
	free(samples);
	return r ? r : merge_make_dir(m->parts, RECORDING_DIR_MODE, err);
}

static int merge_refuse_existing(const char *path, struct err *err)
{
	return err_set(err, -EEXIST, "'%s' already exists: give a new directory", path);
}

int session_merge_new(const char *path, struct session_merge **ret_merge,
		      struct err *err)
{
	struct session_merge *m;
	struct stat st;
	int r;

	if (!lstat(path, &st))
		return merge_refuse_existing(path, err);
	m = calloc(1, sizeof(*m));
	if (!m)
		return merge_no_memory(err);
	m->path = strdup(path);
	r = m->path ? scratch_new_next_to(path, &m->scratch, err)
		    : merge_no_memory(err);
	if (!r)
		r = merge_make_dirs(m, err);
	if (r)
		session_merge_free(m);
	else
		*ret_merge = m;
	return r;
}

/* ---- the name of a part ---- */

/* Names the part after the input, and after the session if the input has several. */
static int session_merge_put_label(const struct merge_part *p,
				   char label[LABEL_MAX + 1])
{
	const char *input = p->input->name, *session = p->from->name;
	const bool several = p->input->sources->sessions.nr > 1 &&
			     !report_session_is_of(p->from, input);
	char *text;
	size_t len;

	if (asprintf(&text, "%s%s%s",
		     several                                ? input
		     : report_session_is_of(p->from, input) ? session
							    : input,
		     several ? "-" : "", several ? session : "") < 0)
		return -ENOMEM;
	for (char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._+-", *at))
			*at = '-';
	input = text + strspn(text, "-.");
	len = strlen(input);
	snprintf(label, LABEL_MAX + 1, "%s",
		 !len              ? "input"
		 : len > LABEL_MAX ? input + len - LABEL_MAX
				   : input);
	free(text);
	return 0;
}

static int make_part_dir(struct merge_part *p, struct err *err)
{
	char label[LABEL_MAX + 1];

	if (session_merge_put_label(p, label))
		return merge_no_memory(err);
	for (unsigned int number = 1;; number++) {
		char suffix[16] = "";

		if (number > 1)
			snprintf(suffix, sizeof(suffix), "-%u", number);
		if (asprintf(&p->dir, "%s/%s%s", p->merge->parts, label, suffix) < 0) {
			p->dir = NULL;
			return merge_no_memory(err);
		}
		if (access(p->dir, F_OK))
			return merge_make_dir(p->dir, RECORDING_DIR_MODE, err);
		free(p->dir);
	}
}

/* ---- where a part comes from ---- */

/* Appends the earlier origin of a session that is itself a part of a merged session. */
static int put_earlier_origin(const struct merge_part *p, struct buf *text)
{
	char *path;
	int r;

	if (p->from->perf_data)
		return 0;
	if (asprintf(&path, "%s/" SESSION_PART_ORIGIN, p->from->dir) < 0)
		return -ENOMEM;
	r = checksums_read_file(path, text, ORIGIN_MAX);
	free(path);
	return err_is_absent(r) || r == -EBADMSG ? 0 : r;
}

static int write_origin(const struct merge_part *p, struct err *err)
{
	struct buf text = { 0 };
	char weight[48];
	char *path = NULL;
	int r;

	snprintf(weight, sizeof(weight), "\nweight %g\n", p->input->weight);
	buf_put(&text, "path ", strlen("path "));
	for (const char *at = p->from->name; *at; at++)
		buf_put_u8(&text, *at == '\n' ? '?' : (uint8_t)*at);
	if (!report_session_is_of(p->from, p->input->name)) {
		buf_put(&text, " of ", strlen(" of "));
		for (const char *at = p->input->name; *at; at++)
			buf_put_u8(&text, *at == '\n' ? '?' : (uint8_t)*at);
	}
	buf_put(&text, weight, strlen(weight));
	r = put_earlier_origin(p, &text);
	if (!r &&
	    (text.failed || asprintf(&path, "%s/" SESSION_PART_ORIGIN, p->dir) < 0))
		r = -ENOMEM;
	if (!r)
		r = checksums_write_file(path, text.data, text.len,
					 RECORDING_FILE_MODE);
	buf_done(&text);
	free(path);
	return r ? err_sys(err, r, "cannot write the origin of '%s'", p->from->name)
		 : 0;
}

/* ---- the samples ---- */

static void session_merge_warn(const struct merge_part *p,
			       const struct session_select_result *result)
{
	const struct segment_damage *d = &result->damage;

	p->result->incomplete = true;
	log_say(LOG_WARNING,
		"%s is incomplete: %" PRIu32 " segments not finished, %" PRIu64
		" blocks damaged, %" PRIu64 " bytes cut off, %" PRIu64
		" samples without their data, %" PRIu64
		" missing; the merged session has the rest",
		p->from->name, result->nr_unfinished, d->bad_blocks, d->cut_bytes,
		d->bad_samples, d->missing_samples);
}

/* Copies the session at `from` with its weight. */
static int copy_session(const struct merge_part *p, const char *from, enum trust trust,
			struct err *err)
{
	const struct spec all = { 0 };
	const struct session_select_request request = { .from = from,
							.trust = trust,
							.to = p->dir,
							.spec = &all,
							.weight = p->input->weight };
	struct session_select_result result = { 0 };
	int r = session_select(&request, &result, err);

	if (r)
		return r;
	p->result->samples_read += result.read;
	p->result->samples += result.samples;
	if (segment_damage_any(&result.damage) || result.nr_unfinished)
		session_merge_warn(p, &result);
	return 0;
}

/* Imports a perf.data into the directory `to`. */
static int import_into(const struct merge_part *p, const char *to,
		       struct import_result *ret_result, struct err *err)
{
	struct import_request request = { .path = p->from->dir,
					  .trust = p->from->trust,
					  .jit_dir = to,
					  .locations = p->input->locations };
	char *segment;
	int r = session_next_path(to, &segment, err);

	if (r)
		return r;
	request.segment = segment;
	(void)checksums_begin(to);
	r = import_file(&request, ret_result, err);
	free(segment);
	if (r)
		return r;
	if (import_is_incomplete(ret_result)) {
		import_say_incomplete(p->from->name, ret_result);
		p->result->incomplete = true;
	}
	return 0;
}

/* Imports a perf.data into a temporary session, and copies that with its weight. */
static int import_weighted(const struct merge_part *p, struct err *err)
{
	struct import_result result;
	char *dir;
	int r;

	if (asprintf(&dir, "%s/imported", scratch_folder(p->merge->scratch)) < 0)
		return merge_no_memory(err);
	r = merge_make_dir(dir, RECORDING_DIR_MODE, err);
	if (!r)
		r = import_into(p, dir, &result, err);
	if (!r)
		r = copy_session(p, dir, TRUST_OWN, err);
	(void)io_remove_tree_at(AT_FDCWD, dir);
	free(dir);
	return r;
}

static int add_samples(const struct merge_part *p, struct err *err)
{
	const bool is_plain = p->input->weight <= 1 && p->input->weight >= 1;
	struct import_result result;
	int r;

	if (!p->from->perf_data)
		return copy_session(p, p->from->dir, p->from->trust, err);
	if (!is_plain)
		return import_weighted(p, err);
	r = import_into(p, p->dir, &result, err);
	if (r)
		return r;
	p->result->samples_read += result.samples;
	p->result->samples += result.samples;
	return 0;
}

/* ---- the binaries of an archive ---- */

static int copy_binary(const struct merge_part *p, const char *from, const char *to,
		       struct err *err)
{
	struct stat st;
	char *images;
	int fd = io_open_regular(from, O_NOFOLLOW);
	int r;

	if (fd < 0)
		return 0;
	if (asprintf(&images, "%s/images", p->dir) < 0) {
		close(fd);
		return merge_no_memory(err);
	}
	r = merge_make_dir(images, RECORDING_DIR_MODE, err);
	free(images);
	if (!r) {
		r = fstat(fd, &st) ? -errno
				   : checksums_copy(fd, to, (uint64_t)st.st_size, NULL);
		if (r)
			err_sys(err, r, "cannot copy '%s'", from);
	}
	close(fd);
	return r;
}

static int copy_binary_of(const struct merge_part *p, const struct dict *d,
			  const struct image *image, struct err *err)
{
	const char *root = archive_folder(p->input->sources->archive);
	char *from, *to;
	int r = 0;

	if (image->kind != IMAGE_FILE || !image->build_id.len)
		return 0;
	to = binary_copy_path(p->dir, image, BINARY_COPY_SHARED);
	if (!to || asprintf(&from, "%s/%s", root, dict_str(d, image->name)) < 0) {
		free(to);
		return merge_no_memory(err);
	}
	if (access(to, F_OK))
		r = copy_binary(p, from, to, err);
	free(from);
	free(to);
	return r;
}

static int copy_binaries_of_segment(const struct merge_part *p, const char *path,
				    struct err *err)
{
	struct segment *s;
	struct sample_batch b;
	int r = segment_open(path, TRUST_OWN, &s, err);

	if (r)
		return r;
	while (!(r = segment_next(s, COLUMN_EVENT, &b, err)))
		;
	r = r < 0 ? r : 0;
	for (size_t i = 0; !r && i < segment_dict(s)->images.nr; i++)
		r = copy_binary_of(p, segment_dict(s), &segment_dict(s)->images.at[i],
				   err);
	segment_close(s);
	return r;
}

/* Copies the binaries from the archive of the input, if any, because the merged session does not
 * refer to the archive. */
static int copy_binaries(const struct merge_part *p, struct err *err)
{
	char **paths;
	size_t nr;
	int r;

	if (!p->input->sources->archive)
		return 0;
	r = session_list(p->dir, &paths, &nr, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < nr; i++)
		r = copy_binaries_of_segment(p, paths[i], err);
	session_list_free(paths, nr);
	return r;
}

int session_merge_add(struct session_merge *m, const struct session_merge_input *input,
		      struct session_merge_result *result, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < input->sources->sessions.nr; i++) {
		struct merge_part part = { .merge = m,
					   .input = input,
					   .from = &input->sources->sessions.at[i],
					   .result = result };

		r = make_part_dir(&part, err);
		if (!r) {
			(void)checksums_begin(part.dir);
			r = add_samples(&part, err);
		}
		if (!r)
			r = copy_binaries(&part, err);
		if (!r)
			r = write_origin(&part, err);
		free(part.dir);
	}
	return r ? err_prefix(err, "%s", input->name) : 0;
}

int session_merge_commit(struct session_merge *m, bool is_private, struct err *err)
{
	int r = is_private ? io_set_mode(m->dir, output_dir_mode(true)) : 0;

	if (!r)
		r = io_rename_new(m->dir, m->path);
	if (r == -EEXIST || r == -ENOTEMPTY)
		return merge_refuse_existing(m->path, err);
	return r ? err_sys(err, r, "cannot create '%s'", m->path) : 0;
}

void session_merge_free(struct session_merge *m)
{
	if (!m)
		return;
	scratch_free(m->scratch);
	free(m->path);
	free(m->dir);
	free(m->parts);
	free(m);
}
