/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/selection.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/selection/image_names.h"
#include "format/session/dict.h"
#include "format/session/session.h"

enum {
	SELECTION_UNSET = 0x7fffffff /* not a combination of the bits of spec.h */
};

void selection_init(struct selection *s, const struct spec *spec,
		    const struct dict *dict, const char *vmlinux)
{
	const struct image_names kernel = {
		.names = { "/no-vmlinux", "[kernel.kallsyms]",
			   *vmlinux ? vmlinux : NULL },
		.kernel = true,
	};

	*s = (struct selection){
		.spec = spec,
		.dict = dict,
		.vmlinux = vmlinux,
		.images = spec && spec_has_images(spec),
		.cpus = spec && spec_columns(spec) & COLUMN_CPU,
	};
	for (uint32_t cpu = 0; s->cpus && cpu < SELECTION_CPUS; cpu++)
		s->cpu_bits[cpu / 64] |= (uint64_t)spec_wants_cpu(spec, cpu)
					 << cpu % 64;
	if (s->images)
		s->kernel = spec_image_bits(spec, &kernel);
}

void selection_done(struct selection *s)
{
	free(s->bits);
	s->bits = NULL;
	s->nr_bits = 0;
	vec_done(&s->times);
	selection_columns_done(&s->columns);
	buf_done(&s->text);
}

bool selection_wants_event(const struct selection *s, const struct event_desc *event)
{
	return !s->spec || spec_wants_event(s->spec, dict_str(s->dict, event->name),
					    event->count, event->unit_mask);
}

bool selection_wants_thread(const struct selection *s, const struct thread *thread)
{
	return !s->spec ||
	       (spec_wants_thread(s->spec, thread->pid, thread->tid,
				  dict_str(s->dict, thread->comm)) &&
		spec_wants_cgroup(s->spec, dict_str(s->dict, thread->cgroup)));
}

/* Makes room for the bits of all images; the dict grows with each block. */
static int selection_extend(struct selection *s)
{
	size_t nr = s->dict->images.nr;
	unsigned int *grown;

	if (nr == s->nr_bits)
		return 0;
	grown = realloc(s->bits, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = s->nr_bits; i < nr; i++)
		grown[i] = SELECTION_UNSET;
	s->bits = grown;
	s->nr_bits = nr;
	return 0;
}

/* Matches OProfile's name and perf's; for the kernel also OProfile's name without a file, and
 * for anonymous memory and copies of code also the recorded name. */
static int match_names(struct selection *s, const struct image *image,
		       unsigned int *ret_bits)
{
	struct image_names names = { .kernel = image_is_kernel(image) };
	size_t second;

	buf_clear(&s->text);
	image_name_put(&s->text, s->dict, image, NAMES_OPROFILE, s->vmlinux);
	second = s->text.len;
	image_name_put(&s->text, s->dict, image, NAMES_PERF, "");
	if (s->text.failed)
		return -ENOMEM;
	names.names[0] = (const char *)s->text.data;
	names.names[1] = (const char *)s->text.data + second;
	if (image->kind == IMAGE_KERNEL)
		names.names[2] = "/no-vmlinux";
	if (image->kind == IMAGE_ANON || image_is_remapped(s->dict, image))
		names.names[2] = dict_str(s->dict, image->name);
	*ret_bits = spec_image_bits(s->spec, &names);
	return 0;
}

static int image_bits(struct selection *s, uint32_t image, unsigned int *ret_bits)
{
	int r;

	/* A damaged sample has no image name that could match. */
	if (image >= s->dict->images.nr) {
		*ret_bits = 0;
		return 0;
	}
	r = selection_extend(s);
	if (!r && s->bits[image] == SELECTION_UNSET)
		r = match_names(s, &s->dict->images.at[image], &s->bits[image]);
	if (r)
		return r;
	*ret_bits = s->bits[image];
	return 0;
}

int selection_match_image(struct selection *s, uint32_t app, bool kernel_app,
			  uint32_t image, bool *ret_top)
{
	unsigned int image_has = 0;
	unsigned int app_has;
	int r;

	*ret_top = false;
	r = image_bits(s, image, &image_has);
	app_has = kernel_app ? s->kernel : image_has;
	if (!r && !kernel_app && app < s->dict->images.nr)
		r = image_bits(s, app, &app_has);
	return r ? r : spec_wants_image(s->spec, app_has, image_has, ret_top);
}
