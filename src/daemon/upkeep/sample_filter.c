/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/sample_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/process_facts.h"
#include "base/parse.h"

enum verdict {
	NOT_KNOWN,
	WANTED,
	UNWANTED
};

/* Adds a path to the filter. Takes ownership of `path`, also on failure. Returns 0 or -ENOMEM. */
static int push_image(struct sample_filter *f, char *path)
{
	if (path && vec_push(&f->images, path))
		return 0;
	free(path);
	return -ENOMEM;
}

/* Adds an image as given and, if its path contains symbolic links, also without them, because the
 * kernel reports paths without links. In a container, the same path may contain no links. */
static int sample_filter_add_image(struct sample_filter *f, const char *path,
				   size_t len)
{
	char *said = strndup(path, len);
	char *real = said && *said == '/' ? realpath(said, NULL) : NULL;
	bool differs = real && strcmp(said, real) != 0;
	int r = push_image(f, said);

	if (differs && !r)
		return push_image(f, real);
	free(real);
	return r;
}

static int sample_filter_set_images(struct sample_filter *f, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		int r = len ? sample_filter_add_image(f, list, len) : 0;

		if (r)
			return r;
		list += len + (list[len] == ',');
	}
	return 0;
}

static bool is_none(const char *text, const char *none)
{
	return !text || !*text || !strcmp(text, none);
}

static int sample_filter_set_number(const char *text, const char *key, const char *what,
				    int32_t *ret_number, struct err *err)
{
	uint64_t number = 0;

	if (!is_none(text, "none") &&
	    (!parse_u64_max(text, INT32_MAX, &number) || !number))
		return err_set(err, -EINVAL, "%s=%.32s: not a process%s id", key, text,
			       what);
	*ret_number = (int32_t)number;
	return 0;
}

int sample_filter_set(struct sample_filter *f, const char *images, const char *vmlinux,
		      const char *pid, const char *pgrp, struct err *err)
{
	int r = sample_filter_set_number(pid, "PID_FILTER", "", &f->pid, err);

	if (!r)
		r = sample_filter_set_number(pgrp, "PGRP_FILTER", " group", &f->pgrp,
					     err);
	if (r)
		return r;
	if (!is_none(vmlinux, "none")) {
		/* Resolve symbolic links, because the kernel reports paths without them. */
		f->vmlinux = realpath(vmlinux, NULL);
		if (!f->vmlinux)
			f->vmlinux = strdup(vmlinux);
	}
	if (!is_none(images, "all") && sample_filter_set_images(f, images))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static bool sample_filter_is_of_kernel(const struct sample_filter *f, const char *path)
{
	return !strcmp(path, "vmlinux") || !strcmp(path, "no-vmlinux") ||
	       (f->vmlinux && !strcmp(path, f->vmlinux));
}

static bool sample_filter_is_listed(const struct sample_filter *f,
				    const struct dict *dict, const struct image *image)
{
	const char *name = dict_str(dict, image->name);

	for (size_t i = 0; i < f->images.nr; i++)
		if (!strcmp(f->images.at[i], name) ||
		    (image->kind == IMAGE_KERNEL &&
		     sample_filter_is_of_kernel(f, f->images.at[i])))
			return true;
	return false;
}

static bool sample_filter_is_wanted(struct sample_filter *f, const struct dict *dict,
				    uint32_t number)
{
	uint8_t *verdict;

	if (number == DICT_NONE)
		return false;
	while (f->verdicts.nr <= number)
		if (!vec_push(&f->verdicts, NOT_KNOWN))
			return true;
	verdict = &f->verdicts.at[number];
	if (*verdict == NOT_KNOWN)
		*verdict = sample_filter_is_listed(f, dict, &dict->images.at[number])
				   ? WANTED
				   : UNWANTED;
	return *verdict == WANTED;
}

/* ---- groups ---- */

/* Returns the process group of a running process, or 0 if it has ended. */
static int32_t group_in_proc(int32_t pid)
{
	struct process_stat stat;
	struct buf text = { 0 };
	int32_t group = process_stat_read(pid, &text, &stat) ? 0 : stat.group;

	buf_done(&text);
	return group;
}

static int32_t group_of(struct sample_filter *f, int32_t pid)
{
	uint32_t known = map_get(&f->groups, (uint32_t)pid, 0);
	int32_t pgrp;

	if (known != MAP_NONE)
		return (int32_t)known;
	pgrp = pid > 0 ? group_in_proc(pid) : 0;
	(void)map_set(&f->groups, (uint32_t)pid, 0, (uint32_t)pgrp);
	return pgrp;
}

void sample_filter_forked(struct sample_filter *f, int32_t pid, int32_t ppid)
{
	int32_t pgrp;

	if (!f->pgrp || pid == ppid)
		return;
	pgrp = group_in_proc(pid);
	if (!pgrp)
		pgrp = group_of(f, ppid);
	(void)map_set(&f->groups, (uint32_t)pid, 0, (uint32_t)pgrp);
}

bool sample_filter_keeps(struct sample_filter *f, const struct dict *dict,
			 const struct sample *sample)
{
	const struct thread *thread = &dict->threads.at[sample->thread];
	uint32_t frame;

	if (f->pid && thread->pid != f->pid)
		return false;
	if (f->pgrp && group_of(f, thread->pid) != f->pgrp)
		return false;
	if (!f->images.nr || sample_filter_is_wanted(f, dict, thread->app))
		return true;
	if (sample->stack < STACK_FIRST || sample->stack >= dict->stacks.nr)
		return false;
	frame = dict->stacks.at[sample->stack].frame;
	return sample_filter_is_wanted(f, dict, dict->frames.at[frame].image);
}

void sample_filter_forget(struct sample_filter *f)
{
	f->verdicts.nr = 0;
}

void sample_filter_done(struct sample_filter *f)
{
	for (size_t i = 0; i < f->images.nr; i++)
		free(f->images.at[i]);
	vec_done(&f->images);
	vec_done(&f->verdicts);
	map_done(&f->groups);
	free(f->vmlinux);
	*f = (struct sample_filter){ 0 };
}
