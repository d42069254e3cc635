#include "daemon/sample_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"

enum verdict {
	NOT_KNOWN,
	WANTED,
	UNWANTED
};

static int add_image(struct sample_filter *f, const char *path, size_t len)
{
	char *copy = strndup(path, len);

	if (copy && vec_push(&f->images, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

static int set_images(struct sample_filter *f, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		int r = len ? add_image(f, list, len) : 0;

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

int sample_filter_set(struct sample_filter *f, const char *images, const char *vmlinux,
		      const char *pid, struct err *err)
{
	uint64_t number = 0;

	if (!is_none(pid, "none") &&
	    (!parse_u64_max(pid, INT32_MAX, &number) || !number))
		return err_set(err, -EINVAL, "PID_FILTER=%.32s: not a process number",
			       pid);
	f->pid = (int32_t)number;
	if (!is_none(vmlinux, "none"))
		f->vmlinux = strdup(vmlinux);
	if (!is_none(images, "all") && set_images(f, images))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static bool is_of_kernel(const struct sample_filter *f, const char *path)
{
	return !strcmp(path, "vmlinux") || !strcmp(path, "no-vmlinux") ||
	       (f->vmlinux && !strcmp(path, f->vmlinux));
}

static bool is_listed(const struct sample_filter *f, const struct dict *dict,
		      const struct image *image)
{
	const char *name = dict_str(dict, image->name);

	for (size_t i = 0; i < f->images.nr; i++)
		if (!strcmp(f->images.at[i], name) ||
		    (image->kind == IMAGE_KERNEL && is_of_kernel(f, f->images.at[i])))
			return true;
	return false;
}

static bool is_wanted(struct sample_filter *f, const struct dict *dict, uint32_t number)
{
	uint8_t *verdict;

	if (number == DICT_NONE)
		return false;
	while (f->verdicts.nr <= number)
		if (!vec_push(&f->verdicts, NOT_KNOWN))
			return true;
	verdict = &f->verdicts.at[number];
	if (*verdict == NOT_KNOWN)
		*verdict = is_listed(f, dict, &dict->images.at[number]) ? WANTED
									: UNWANTED;
	return *verdict == WANTED;
}

bool sample_filter_keeps(struct sample_filter *f, const struct dict *dict,
			 const struct sample *sample)
{
	const struct thread *thread = &dict->threads.at[sample->thread];
	uint32_t frame;

	if (f->pid && thread->pid != f->pid)
		return false;
	if (!f->images.nr || is_wanted(f, dict, thread->app))
		return true;
	if (sample->stack < STACK_FIRST || sample->stack >= dict->stacks.nr)
		return false;
	frame = dict->stacks.at[sample->stack].frame;
	return is_wanted(f, dict, dict->frames.at[frame].image);
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
	free(f->vmlinux);
	*f = (struct sample_filter){ 0 };
}
