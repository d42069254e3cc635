#include "tools/archive_plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "format/archive_manifest.h"
#include "resolve/elf_file.h"
#include "tools/archive_out.h"

struct planned {
	char *from;
	char *name;
	const char *base; /* the last part of the name */
	bool whole;
	elf_spans keep; /* if not */
	struct stat was;
};

struct archive_plan {
	VEC(struct planned) files;
	struct map by_name; /* its hash; the number */
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
	map_done(&p->by_name);
	free(p);
}

static uint64_t name_key(const char *name)
{
	return hash_bytes(name, strlen(name), 0);
}

static struct planned *find(const struct archive_plan *p, const char *name)
{
	uint32_t number = map_get(&p->by_name, name_key(name), 0);

	return number == MAP_NONE ? NULL : &p->files.at[number];
}

bool archive_plan_is_other(const struct archive_plan *p, const char *name,
			   const char *from)
{
	const struct planned *f = find(p, name);

	return f && strcmp(f->from, from) != 0;
}

static int add_new(struct archive_plan *p, const char *from, const char *name,
		   struct planned **ret_file)
{
	struct planned f = { .from = strdup(from), .name = strdup(name) };
	const char *slash = f.name ? strrchr(f.name, '/') : NULL;

	f.base = slash ? slash + 1 : f.name;
	(void)stat(from, &f.was);
	if (!f.from || !f.name || !vec_grow(&p->files) || !p->files.at) {
		planned_done(&f);
		return -ENOMEM;
	}
	*ret_file = &p->files.at[p->files.nr++];
	**ret_file = f;
	return map_set(&p->by_name, name_key(name), 0, (uint32_t)(p->files.nr - 1));
}

int archive_plan_add(struct archive_plan *p, const char *from, const char *name,
		     const elf_spans *keep)
{
	struct planned *f;
	int r;

	if (!archive_name_ok(name))
		return 1;
	f = find(p, name);
	if (f && strcmp(f->from, from) != 0)
		return 0;
	r = f ? 0 : add_new(p, from, name, &f);
	if (r)
		return r;
	f->whole |= !keep;
	for (size_t i = 0; keep && i < keep->nr; i++)
		if (!vec_push(&f->keep, keep->at[i]))
			return -ENOMEM;
	return 0;
}

static bool was_replaced(const struct planned *f)
{
	struct stat now;

	return stat(f->from, &now) || now.st_dev != f->was.st_dev ||
	       now.st_ino != f->was.st_ino || now.st_size != f->was.st_size ||
	       now.st_mtim.tv_sec != f->was.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != f->was.st_mtim.tv_nsec;
}

/* What does not let itself be taken apart is taken whole. */
static int spans_without(struct planned *f, elf_spans *ret_without)
{
	int fd = f->whole ? -1 : elf_open_regular(f->from), r;
	struct elf_file elf;

	if (fd < 0)
		return 0;
	elf_spans_join(&f->keep);
	r = elf_file_init_fd(&elf, fd, NULL);
	if (!r) {
		r = elf_unneeded(&elf, &f->keep, ret_without);
		elf_file_done(&elf);
	}
	close(fd);
	return r == -ENOMEM ? r : 0;
}

static int write_one(struct planned *f, struct archive_out *out, struct err *err)
{
	elf_spans without = { 0 };
	int r;

	if (was_replaced(f)) {
		log_say(LOG_WARNING,
			"%s is not archived: it was replaced while the archive was "
			"made",
			f->from);
		return 0;
	}
	r = spans_without(f, &without);
	if (r)
		return err_set(err, r, "out of memory");
	r = archive_out_add_without(out, f->from, f->name, &without, err);
	vec_done(&without);
	return r < 0 ? r : 0;
}

/* By the last part of the name: versions of one thing, and files with several names. */
static int compare_planned(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;
	int order = strcmp(x->base, y->base);

	return order ? order : strcmp(x->name, y->name);
}

int archive_plan_write(struct archive_plan *p, struct archive_out *out, struct err *err)
{
	int r = 0;

	if (p->files.nr)
		qsort(p->files.at, p->files.nr, sizeof(*p->files.at), compare_planned);
	map_done(&p->by_name); /* its numbers are of no use now */
	for (size_t i = 0; !r && i < p->files.nr; i++)
		r = write_one(&p->files.at[i], out, err);
	return r;
}
