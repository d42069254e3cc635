/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/odb/sample_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/parse.h"

static const char root_mark[] = "{root}/";
static const char kernel_mark[] = "{kern}/";
static const char anon_mark[] = "{anon:";
static const char dep_mark[] = "/{dep}/";
static const char calls_mark[] = "/{cg}/";

enum {
	EVENT_FIELDS = 5 /* count, unit mask, tgid, tid, cpu */
};

bool odb_path_begins(const char *name)
{
	return !strcmp(name, "{root}") || !strcmp(name, "{kern}");
}

static bool odb_path_has(const char *text, const char *mark)
{
	return !strncmp(text, mark, strlen(mark));
}

static int odb_path_refuse(struct err *err, const char *why)
{
	return err_set(err, -EBADMSG, "not a path of a sample file: %s", why);
}

/* Returns whether the path of an image contains `mark`, a component that OProfile puts between
 * images. */
static bool odb_path_has_mark(const char *text, size_t len, const char *mark)
{
	size_t without_slash = strlen(mark) - 1;

	return memmem(text, len, mark, strlen(mark)) ||
	       (len >= without_slash &&
		!memcmp(text + len - without_slash, mark, without_slash));
}

/* Parses "TGID.0xSTART.0xEND". */
static int odb_path_memory(const char *text, size_t len, struct odb_image *image)
{
	char copy[64];
	char *start, *end;
	uint64_t pid;

	if (len >= sizeof(copy))
		return -EBADMSG;
	memcpy(copy, text, len);
	copy[len] = '\0';
	start = strchr(copy, '.');
	end = start ? strchr(start + 1, '.') : NULL;
	if (!end)
		return -EBADMSG;
	*start++ = *end++ = '\0';
	if (!parse_u64(copy, &pid) || pid > INT32_MAX ||
	    !parse_u64(start, &image->start) || !parse_u64(end, &image->end))
		return -EBADMSG;
	image->pid = (int32_t)pid;
	return 0;
}

/* Parses an image, text[0..len). */
static int odb_path_image(const char *text, size_t len, struct odb_image *image,
			  struct err *err)
{
	const char *close;

	if (odb_path_has_mark(text, len, dep_mark) ||
	    odb_path_has_mark(text, len, calls_mark))
		return odb_path_refuse(err,
				       "{dep} or {cg} is not followed by an image");
	if (odb_path_has(text, root_mark) && len > strlen(root_mark)) {
		image->kind = ODB_IMAGE_FILE;
		image->name = strndup(text + strlen(root_mark) - 1,
				      len - strlen(root_mark) + 1);
	} else if (odb_path_has(text, kernel_mark) && len > strlen(kernel_mark)) {
		image->kind = ODB_IMAGE_KERNEL;
		image->name =
			strndup(text + strlen(kernel_mark), len - strlen(kernel_mark));
	} else if (odb_path_has(text, anon_mark)) {
		close = memchr(text, '}', len);
		if (!close || close + 1 >= text + len || close[1] != '/' ||
		    odb_path_memory(close + 2, (size_t)(text + len - close) - 2, image))
			return odb_path_refuse(err, "bad anonymous memory");
		image->kind = ODB_IMAGE_ANON;
		image->name = strndup(text + strlen(anon_mark),
				      (size_t)(close - text) - strlen(anon_mark));
	} else {
		return odb_path_refuse(err, "it does not begin with {root} or {kern}");
	}
	return image->name ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static bool odb_path_number(const char *text, int32_t *ret_number)
{
	uint64_t v;

	*ret_number = ODB_ALL;
	if (!strcmp(text, "all"))
		return true;
	if (!parse_u64(text, &v) || v > INT32_MAX)
		return false;
	*ret_number = (int32_t)v;
	return true;
}

/* Parses "EVENT.count.unitmask.tgid.tid.cpu", counting from the end. */
static int odb_path_event(const char *text, struct odb_path *p, struct err *err)
{
	char *fields[EVENT_FIELDS];
	bool ok;

	p->event = strdup(text);
	if (!p->event)
		return err_set(err, -ENOMEM, "out of memory");
	for (int i = EVENT_FIELDS; i-- > 0;) {
		char *dot = strrchr(p->event, '.');

		if (!dot || dot == p->event)
			return err_set(
				err, -EBADMSG,
				"parse_event_spec(): bad event specification: %s",
				text);
		*dot = '\0';
		fields[i] = dot + 1;
	}
	ok = parse_u64(fields[0], &p->count) && parse_u64(fields[1], &p->unit_mask) &&
	     odb_path_number(fields[2], &p->tgid) &&
	     odb_path_number(fields[3], &p->tid) && odb_path_number(fields[4], &p->cpu);
	return ok ? 0
		  : err_set(err, -EBADMSG,
			    "parse_event_spec(): bad event specification: %s", text);
}

static int odb_path_copy(const struct odb_image *from, struct odb_image *to)
{
	*to = *from;
	to->name = from->name ? strdup(from->name) : NULL;
	return to->name ? 0 : -ENOMEM;
}

static int odb_path_images(const char *path, size_t len, struct odb_path *p,
			   struct err *err)
{
	const char *dep = memmem(path, len, dep_mark, strlen(dep_mark));
	const char *image = dep ? dep + strlen(dep_mark) : path;
	const char *end = path + len;
	const char *calls =
		memmem(image, (size_t)(end - image), calls_mark, strlen(calls_mark));
	int r = odb_path_image(image, (size_t)((calls ? calls : end) - image),
			       &p->image, err);

	if (!r && calls) {
		calls += strlen(calls_mark);
		r = odb_path_image(calls, (size_t)(end - calls), &p->callee, err);
	}
	if (!r && dep)
		r = odb_path_image(path, (size_t)(dep - path), &p->app, err);
	else if (!r && odb_path_copy(&p->image, &p->app))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

int odb_path_parse(const char *path, struct odb_path *ret_path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct odb_path p = { 0 };
	int r;

	if (!slash)
		return odb_path_refuse(err, "it has no directory");
	r = odb_path_event(slash + 1, &p, err);
	if (!r)
		r = odb_path_images(path, (size_t)(slash - path), &p, err);
	if (r) {
		odb_path_done(&p);
		return r;
	}
	*ret_path = p;
	return 0;
}

void odb_path_done(struct odb_path *p)
{
	free(p->app.name);
	free(p->image.name);
	free(p->callee.name);
	free(p->event);
	*p = (struct odb_path){ 0 };
}

static void odb_path_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void odb_path_put_image(const struct odb_image *image, struct buf *out)
{
	char range[64];

	switch (image->kind) {
	case ODB_IMAGE_FILE:
		odb_path_put_text(out, "{root}");
		odb_path_put_text(out, image->name);
		break;
	case ODB_IMAGE_KERNEL:
		odb_path_put_text(out, kernel_mark);
		odb_path_put_text(out, image->name);
		break;
	case ODB_IMAGE_ANON:
	default:
		odb_path_put_text(out, anon_mark);
		odb_path_put_text(out, image->name);
		snprintf(range, sizeof(range), "}/%d.0x%llx.0x%llx", image->pid,
			 (unsigned long long)image->start,
			 (unsigned long long)image->end);
		odb_path_put_text(out, range);
		break;
	}
}

static void odb_path_put_number(int32_t number, struct buf *out)
{
	buf_put_u8(out, '.');
	if (number == ODB_ALL)
		odb_path_put_text(out, "all");
	else
		buf_put_signed(out, number);
}

void odb_path_put(const struct odb_path *p, struct buf *out)
{
	odb_path_put_image(&p->app, out);
	odb_path_put_text(out, dep_mark);
	odb_path_put_image(&p->image, out);
	if (p->callee.name) {
		odb_path_put_text(out, calls_mark);
		odb_path_put_image(&p->callee, out);
	}
	buf_put_u8(out, '/');
	odb_path_put_text(out, p->event);
	buf_put_u8(out, '.');
	buf_put_decimal(out, p->count);
	buf_put_u8(out, '.');
	buf_put_decimal(out, p->unit_mask);
	odb_path_put_number(p->tgid, out);
	odb_path_put_number(p->tid, out);
	odb_path_put_number(p->cpu, out);
}
