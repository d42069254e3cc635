/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/module_layout.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
	SECTIONS_MAX = 256, /* real modules have about ten */
	ALIGN_MAX = 1 << 16 /* of a section; a larger value is invalid */
};

static bool module_layout_is_code(const struct elf_section *s, const char *name)
{
	return s->flags & SHF_ALLOC && s->flags & SHF_EXECINSTR && s->bytes &&
	       strncmp(name, ".init", 5) != 0;
}

static uint64_t aligned(uint64_t address, uint64_t align)
{
	if (align < 2 || align > ALIGN_MAX || align & (align - 1))
		return address;
	return (address + align - 1) & ~(align - 1);
}

/* Computes the addresses of the sections: .text is at the given address; the others follow it in
 * the order of the file. Sections before .text are skipped. Returns 0 or -ENOMEM. */
static int module_layout_lay_out(struct module_layout *l, uint64_t text)
{
	uint64_t next = text;
	bool found = false;

	for (size_t i = 0; i < l->f.sections.nr && l->sections.nr < SECTIONS_MAX; i++) {
		const struct elf_section *s = &l->f.sections.at[i];
		const char *name = elf_file_section_name(&l->f, s);

		found |= !strcmp(name, ".text");
		if (!found || !module_layout_is_code(s, name))
			continue;
		next = aligned(next, l->sections.nr ? s->align : 0);
		if (!vec_push(&l->sections, ((struct section_address){ name, next })))
			return -ENOMEM;
		next += s->bytes;
	}
	return l->sections.nr ? 0 : -ENODATA;
}

int module_layout_read(int fd, uint64_t text, struct module_layout *ret_layout)
{
	int r = elf_file_init_fd(&ret_layout->f, fd, NULL);

	if (r)
		return r;
	memset(&ret_layout->sections, 0, sizeof(ret_layout->sections));
	r = elf_file_sections(&ret_layout->f, NULL);
	if (!r)
		r = module_layout_lay_out(ret_layout, text);
	if (r)
		module_layout_done(ret_layout);
	return r;
}

void module_layout_done(struct module_layout *l)
{
	vec_done(&l->sections);
	elf_file_done(&l->f);
}
