/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/make/names.h"
#include "archive/make/out.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "format/archive/manifest.h"
#include "resolve/elf/file.h"

struct planned {
	char *from;
	char *name;
	const char *base; /* last component of the name */
	bool whole;
	bool grows;     /* a file of a recording that may still be running */
	bool is_needed; /* the recording itself */
	elf_spans keep; /* code ranges to keep; not used if `whole` */
	struct stat was;
};

struct archive_plan {
	VEC(struct planned) files;
	struct archive_names names; /* names of `files`, with the same indexes */
};

int archive_plan_new(struct archive_plan **ret_plan)
{
	*ret_plan = calloc(1, sizeof(**ret_plan));
	return *ret_plan ? 0 : -ENOMEM;
}

static void planned_done(struct planned *f)
{
	vec_done(&f->keep);
	free(f->from);
	free(f->name);
}

void archive_plan_free(struct archive_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->files.nr; i++)
		planned_done(&p->files.at[i]);
	vec_done(&p->files);
	archive_names_done(&p->names);
	free(p);
}

static struct planned *archive_plan_find(const struct archive_plan *p, const char *name)
{
	uint32_t number = archive_names_find(&p->names, name);

	return number == MAP_NONE ? NULL : &p->files.at[number];
}

bool archive_plan_conflicts(const struct archive_plan *p, const char *name,
			    const struct stat *st)
{
	return archive_names_check(&p->names, name, st) == ARCHIVE_NAME_OTHER;
}

static int archive_plan_add_new(struct archive_plan *p,
				const struct archive_planned *file, const char *name,
				struct planned **ret_file, struct err *err)
{
	struct planned f = { .from = strdup(file->from), .name = strdup(name) };
	const char *slash = f.name ? strrchr(f.name, '/') : NULL;
	int r = f.from && f.name ? 0 : -ENOMEM;

	f.base = slash ? slash + 1 : f.name;
	/* If the file was removed, archive_plan_write() reports that. */
	if (file->was) {
		f.was = *file->was;
	} else if (!r) {
		int status = io_stat(file->from, &f.was);

		if (status && !err_is_absent(status)) {
			r = err_sys(err, status, "cannot archive '%s'", file->from);
			planned_done(&f);
			return r;
		}
	}
	if (r || !vec_grow(&p->files) || !p->files.at) {
		planned_done(&f);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*ret_file = &p->files.at[p->files.nr++];
	**ret_file = f;
	r = archive_names_add(&p->names, name, &(*ret_file)->was);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Checks a name. Returns 0 if it is free, 1 if the same file has it, or ARCHIVE_OUT_TAKEN. */
static int archive_plan_check(const struct archive_plan *p,
			      const struct archive_planned *file, const char *name)
{
	const struct stat *was = file->was;
	struct stat st;

	if (!was && !io_stat(file->from, &st))
		was = &st;
	switch (archive_names_check(&p->names, name, was)) {
	case ARCHIVE_NAME_SAME:
		return 1;
	case ARCHIVE_NAME_OTHER:
		log_say(LOG_WARNING,
			"%s is not archived: another file in the archive has its name",
			file->from);
		return ARCHIVE_OUT_TAKEN;
	case ARCHIVE_NAME_FREE:
	default:
		return 0;
	}
}

int archive_plan_add(struct archive_plan *p, const struct archive_planned *file,
		     const char *name, struct err *err)
{
	const elf_spans *keep = file->keep;
	struct planned *f;
	int r;

	if (!archive_name_ok(name))
		return ARCHIVE_OUT_NAME;
	f = archive_plan_find(p, name);
	if (!f || strcmp(f->from, file->from) != 0) {
		r = archive_plan_check(p, file, name);
		if (r)
			return r == ARCHIVE_OUT_TAKEN ? r : 0;
	}
	r = f ? 0 : archive_plan_add_new(p, file, name, &f, err);
	if (r || !f)
		return r;
	f->whole |= !keep;
	f->grows |= file->grows;
	f->is_needed |= file->is_needed;
	for (size_t i = 0; keep && i < keep->nr; i++)
		if (!vec_push(&f->keep, keep->at[i]))
			return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Compares the file that was opened as `fd` (or a negative errno) with the one that was examined.
 * The copy is made from the same descriptor. Returns 0, 1 if the file was replaced or removed, or
 * a negative errno. */
static int was_replaced(const struct planned *f, int fd)
{
	struct stat now;

	/* -EINVAL means that it is no longer a regular file. */
	if (fd < 0)
		return err_is_absent(fd) || fd == -EINVAL ? 1 : fd;
	if (fstat(fd, &now))
		return -errno;
	if (now.st_dev != f->was.st_dev || now.st_ino != f->was.st_ino)
		return 1;
	return !f->grows && (now.st_size != f->was.st_size ||
			     now.st_mtim.tv_sec != f->was.st_mtim.tv_sec ||
			     now.st_mtim.tv_nsec != f->was.st_mtim.tv_nsec);
}

static int archive_plan_leave_out(const struct planned *f, struct err *err)
{
	if (f->is_needed)
		return err_set(err, -ESTALE,
			       "%s was replaced or removed while the archive was made: "
			       "try again",
			       f->from);
	log_say(LOG_WARNING,
		"%s is not archived: it was replaced while the archive was made",
		f->from);
	return 0;
}

/* Computes the spans of a binary to leave out. Leaves *ret_without empty for a file that cannot
 * be parsed, which is then archived completely. */
static int spans_without(struct planned *f, int fd, elf_spans *ret_without)
{
	struct elf_file elf;
	int r;

	if (f->whole)
		return 0;
	elf_spans_join(&f->keep);
	r = elf_file_init_fd(&elf, fd, NULL);
	if (!r) {
		r = elf_unneeded(&elf, &f->keep, ret_without);
		elf_file_done(&elf);
	}
	return r == -ENOMEM ? r : 0;
}

static int write_open(struct planned *f, int fd, struct archive_out *out,
		      struct err *err)
{
	elf_spans without = { 0 };
	const struct archive_open file = { fd, f->from, &without };
	int r = was_replaced(f, fd);

	if (r < 0)
		return err_sys(err, r, "cannot archive '%s'", f->from);
	if (r)
		return archive_plan_leave_out(f, err);
	r = spans_without(f, fd, &without);
	if (r)
		r = err_set(err, r, "out of memory");
	else
		r = archive_out_add_open(out, &file, f->name, err);
	vec_done(&without);
	return r == ARCHIVE_OUT_TAKEN || r < 0 ? r : 0;
}

static int archive_plan_write_one(struct planned *f, struct archive_out *out,
				  struct err *err)
{
	int fd = elf_open_regular(f->from);
	int r = write_open(f, fd, out, err);

	if (fd >= 0)
		close(fd);
	return r;
}

/* Sorts by the last component of the name, which groups versions of a file and files with several
 * names. */
static int compare_planned(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;
	int order = strcmp(x->base, y->base);

	return order ? order : strcmp(x->name, y->name);
}

int archive_plan_write(struct archive_plan *p, struct archive_out *out, struct err *err)
{
	int r = 0;
	bool taken = false;

	if (p->files.nr)
		qsort(p->files.at, p->files.nr, sizeof(*p->files.at), compare_planned);
	archive_names_done(&p->names); /* sorting invalidates its indexes */
	for (size_t i = 0; r >= 0 && i < p->files.nr; i++) {
		r = archive_plan_write_one(&p->files.at[i], out, err);
		taken |= r == ARCHIVE_OUT_TAKEN;
	}
	return r < 0 ? r : taken;
}
