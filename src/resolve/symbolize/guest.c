/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest.c - symbolizes the kernel and modules of a virtual machine, with files that the user
 * specified, because recordings do not identify them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/faults.h"
#include "base/files/io.h"
#include "resolve/elf/file.h"
#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"

enum {
	TEXT_MAX_BYTES = 256 << 20
};

/* Prefix of the image names of the guest kernel's code. */
static const char kernel_name[] = "[guest.kernel.kallsyms";

void naming_guest_done(struct naming_guest *g)
{
	kallsyms_index_done(&g->index);
	buf_done(&g->text);
	*g = (struct naming_guest){ 0 };
}

/* Reads the text once. Returns 0 or -ENOMEM; g->status is the result. */
static int naming_guest_read_text(struct naming *n, const char *path)
{
	struct naming_guest *g = &n->guest;
	int r;

	if (g->read)
		return 0;
	g->read = true;
	g->status = NAMING_NO_KALLSYMS;
	if (!path[0])
		return 0;
	r = io_read_file(path, &g->text, TEXT_MAX_BYTES);
	if (r != -EFBIG)
		fault_unreadable(path, r);
	if (!r)
		r = kallsyms_index(&g->index, (const char *)g->text.data, g->text.len);
	if (!r && !kallsyms_has_addresses((const char *)g->text.data, g->text.len))
		r = -ENODATA;
	if (!r) {
		g->status = NAMING_OK;
		return 0;
	}
	g->status = NAMING_UNREADABLE;
	naming_locations_warn(n->locations, path, NAMING_UNREADABLE, false);
	return r == -ENOMEM ? r : 0;
}

static bool is_module(const char *name)
{
	return strncmp(name, kernel_name, sizeof(kernel_name) - 1) != 0;
}

/* Finds the start of the image in the addresses of the text. The kernel may have been relocated, as
 * its recorded symbol shows. Returns false for a module that the text has at another address: the
 * text is then of another boot. */
static bool find_start(const struct naming *n, const struct image *image,
		       const struct kallsyms_part *part, bool module,
		       uint64_t *ret_start)
{
	const char *text = n->guest.index.text;
	uint64_t there;

	*ret_start = image->start;
	if (module)
		return kallsyms_fits(text + part->begin, part->end - part->begin,
				     image->start, image->end);
	if (image->start && image->ref_address &&
	    kallsyms_find(text, n->guest.text.len, dict_str(n->dict, image->ref_name),
			  &there))
		*ret_start -= image->ref_address - there;
	return true;
}

static int name_from_text(struct naming *n, const struct image *image, const char *name,
			  bool module, struct naming_entry *e)
{
	const char *path = naming_locations_guest_kallsyms(n->locations);
	const struct kallsyms_part *part;
	char word[64]; /* the module's name */
	uint64_t start;
	int r = naming_guest_read_text(n, path);

	e->status = n->guest.status;
	if (r || e->status != NAMING_OK)
		return r;
	e->status = NAMING_NO_KALLSYMS;
	if (module && strlen(name) >= sizeof(word) + 2)
		return 0;
	if (module)
		snprintf(word, sizeof(word), "%.*s", (int)strlen(name) - 2, name + 1);
	part = kallsyms_part(&n->guest.index, module ? word : NULL);
	if (part && !find_start(n, image, part, module, &start)) {
		e->status = NAMING_OTHER_FILE;
		part = NULL;
	}
	if (part)
		r = symtab_load_kallsyms(
			&(struct symtab_kallsyms){ .text = n->guest.index.text +
							   part->begin,
						   .len = part->end - part->begin,
						   .module = module ? word : NULL,
						   .start = start },
			&e->tab, NULL);
	if (!part || r)
		return r == -ENOMEM ? r : 0;
	e->status = NAMING_UNVERIFIED;
	naming_set_from(e, path);
	return 0;
}

static int name_from_file(struct naming *n, const struct image *image,
			  struct naming_entry *e)
{
	const char *path = naming_locations_guest_vmlinux(n->locations);
	int fd = path[0] ? elf_open_regular(path) : -ENOENT;
	int r;

	if (fd < 0) {
		if (path[0])
			naming_locations_warn(n->locations, path, NAMING_NO_FILE,
					      false);
		return 0;
	}
	r = naming_load_vmlinux(n, image, fd, e);
	close(fd);
	if (e->tab)
		naming_set_from(e, path);
	if (e->status == NAMING_OK)
		e->status = NAMING_UNVERIFIED;
	else
		naming_locations_warn(n->locations, path, e->status, false);
	return r;
}

int naming_guest(struct naming *n, const struct image *image, struct naming_entry *e)
{
	const char *name = dict_str(n->dict, image->name);
	bool module = is_module(name);
	int r = 0;

	e->status = NAMING_NONE_EXPECTED;
	if (!image->end) /* the address is not in a known image of the guest */
		return 0;
	if (!module)
		r = name_from_file(n, image, e);
	if (r || (e->tab && symtab_count(e->tab)))
		return r;
	symtab_free(e->tab);
	free(e->from);
	e->tab = NULL;
	e->from = NULL;
	return name_from_text(n, image, name, module, e);
}
