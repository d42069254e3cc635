/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbolize/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolve/find/binary.h"
#include "resolve/jit/dump.h"
#include "resolve/lines/jit_lines.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/priv.h"
#include "resolve/symbols/module_layout.h"

struct naming_lines {
	struct lines *lines;
	struct binary binary;
	uint64_t shift; /* kernel: run-time address minus link-time address */
	bool is_module;
	/* Addresses of a module's sections, recorded ... */
	struct module_line module;
	struct module_layout layout; /* ... or computed */
	bool has_layout;
	const struct perf_input_code *bpf; /* a BPF program ... */
	const char *machine;               /* ... for this machine */
	struct mapped dump_bytes;          /* code of a JIT compiler */
	struct jitdump dump;
	struct jit_lines *jit_lines; /* NULL: not JIT code, or no lines */
};

void naming_want_lines(struct naming *n)
{
	n->want_lines = true;
}

void naming_lines_close(struct naming_lines *nl)
{
	if (!nl)
		return;
	lines_free(nl->lines);
	if (nl->has_layout)
		module_layout_done(&nl->layout);
	module_line_done(&nl->module);
	if (nl->jit_lines)
		jitdump_done(&nl->dump);
	jit_lines_free(nl->jit_lines);
	mapped_release(&nl->dump_bytes);
	binary_close(&nl->binary);
	free(nl);
}

/* Opens the binary's lines, if requested. Returns false if there are none. */
static bool naming_lines_open_lines(struct naming_lines *nl,
				    const struct lines_options *options)
{
	const struct lines_file file = {
		.fd = nl->binary.fd,
		.path = nl->binary.path,
		.debug_fd = nl->binary.debug_fd,
		.debug_path = nl->binary.debug_path,
	};

	if (nl->binary.fd >= 0 && !options)
		return true;
	if (nl->binary.fd < 0 || lines_open(options, &file, &nl->lines, NULL))
		return false;
	return true;
}

static bool naming_lines_open_file(struct naming *n, const struct image *image,
				   const struct lines_options *options,
				   struct naming_lines *nl)
{
	const char *name = dict_str(n->dict, image->name);

	return !naming_find_binary(n, image, name, &nl->binary) &&
	       naming_lines_open_lines(nl, options);
}

/* Finds the address of a symbol; returns false if it is not in the table. */
static bool naming_lines_address_of(const struct symtab *tab, const char *name,
				    uint64_t *ret_addr)
{
	for (size_t i = 0; i < symtab_count(tab); i++) {
		const struct symbol *s = symtab_at(tab, i);

		if (!strcmp(s->name, name)) {
			*ret_addr = s->vaddr.v;
			return true;
		}
	}
	return false;
}

/* Computes how far the kernel was relocated, from one of its recorded symbols or from its recorded
 * start. Returns false if the file's symbols do not show it. */
static bool naming_lines_find_shift(struct naming *n, const struct image *image, int fd,
				    uint64_t *ret_shift)
{
	const char *ref = dict_str(n->dict, image->ref_name);
	struct symtab *tab = NULL;
	uint64_t addr;
	bool known = true;

	*ret_shift = 0;
	if (!image->start && !image->ref_address)
		return true;
	if (symtab_load_elf_fd(fd, SYMTAB_ADDRESSES, &tab, NULL)) {
		symtab_free(tab);
		return false;
	}
	if (image->ref_address && naming_lines_address_of(tab, ref, &addr))
		*ret_shift = image->ref_address - addr;
	else if (naming_lines_address_of(tab, "_text", &addr) ||
		 naming_lines_address_of(tab, "_stext", &addr))
		*ret_shift = image->start - addr;
	else
		known = false;
	symtab_free(tab);
	return known;
}

/* Uses a kernel's file if it has debug information. Returns false if it cannot be used. Consumes
 * `fd` and `path` in either case. */
static bool naming_lines_take_vmlinux(struct naming *n, const struct image *image,
				      int fd, char *path,
				      const struct lines_options *options,
				      struct naming_lines *nl)
{
	nl->binary.fd = fd;
	nl->binary.path = path;
	if (naming_lines_open_lines(nl, options) &&
	    (!options || lines_has_info(nl->lines)) &&
	    naming_lines_find_shift(n, image, fd, &nl->shift))
		return true;
	lines_free(nl->lines);
	nl->lines = NULL;
	binary_close(&nl->binary);
	return false;
}

static bool open_kernel(struct naming *n, const struct image *image,
			const struct lines_options *options, struct naming_lines *nl)
{
	const struct binary_locations locations =
		naming_binary_locations(n, BINARY_HERE);
	const struct build_id *ran = naming_kernel_id(n, image);
	const char *release = n->info->os_release ? n->info->os_release : "";
	char *path;
	int fd;

	if (!naming_open_vmlinux(n, image, &fd, &path) &&
	    naming_lines_take_vmlinux(n, image, fd, path, options, nl))
		return true;
	for (size_t i = 0;
	     !binary_find_vmlinux(&locations, ran, release, &i, &fd, &path);) {
		if (naming_lines_take_vmlinux(n, image, fd, path, options, nl))
			return true;
	}
	return !binary_fetch(&locations, ran, DEBUGINFOD_DEBUGINFO, &fd, &path) &&
	       naming_lines_take_vmlinux(n, image, fd, path, options, nl);
}

static bool naming_lines_open_module(struct naming *n, const struct image *image,
				     const struct lines_options *options,
				     struct naming_lines *nl)
{
	nl->is_module = true;
	if (naming_find_module(n, image, &nl->binary, &nl->module) || nl->binary.fd < 0)
		return false;
	if (!nl->module.sections.nr) {
		if (!image->start ||
		    module_layout_read(nl->binary.fd, image->start, &nl->layout))
			return false;
		nl->has_layout = true;
	}
	return naming_lines_open_lines(nl, options);
}

/* Opens the dump of a JIT compiler, which contains the code. Returns false if there is no dump; a
 * dump without readable lines still provides its code. */
static bool naming_lines_open_jit(struct naming *n, const struct image *image,
				  const struct lines_options *options,
				  struct naming_lines *nl)
{
	const struct jit_locations locations = naming_jit_locations(n);

	if (jit_open_dump(&locations, image->pid, dict_str(n->dict, image->name),
			  image->inode, &nl->binary.fd, &nl->binary.path))
		return false;
	if (!options ||
	    jit_dump_map(nl->binary.fd, nl->binary.path, &nl->dump_bytes, &nl->dump))
		return true;
	if (jit_lines_new(&nl->dump, &nl->dump_bytes, &nl->jit_lines)) {
		jitdump_done(&nl->dump);
		mapped_release(&nl->dump_bytes);
	}
	return true;
}

/* Finds a BPF program by its address; returns whether it was found. Another program can have been
 * loaded at this address later, so the size must also fit. */
static bool open_bpf(struct naming *n, const struct image *image,
		     const struct lines_options *options, struct naming_lines *nl)
{
	(void)options;
	nl->machine = n->machine;
	for (size_t i = 0; !nl->bpf && i < n->nr_codes; i++)
		if (n->codes[i].address == image->start &&
		    n->codes[i].len <= image->end - image->start)
			nl->bpf = &n->codes[i];
	return nl->bpf;
}

int naming_lines_open(struct naming *n, uint32_t image,
		      const struct lines_options *options,
		      struct naming_lines **ret_lines)
{
	static bool (*const openers[IMAGE_COUNT])(struct naming *, const struct image *,
						  const struct lines_options *,
						  struct naming_lines *) = {
		[IMAGE_FILE] = naming_lines_open_file,
		[IMAGE_VDSO] = naming_lines_open_file,
		[IMAGE_KERNEL] = open_kernel,
		[IMAGE_MODULE] = naming_lines_open_module,
		[IMAGE_JIT] = naming_lines_open_jit,
		[IMAGE_BPF] = open_bpf,
	};
	const struct image *i;
	struct naming_lines *nl;

	*ret_lines = NULL;
	if (image >= n->dict->images.nr)
		return 0;
	i = &n->dict->images.at[image];
	if ((unsigned int)i->kind >= IMAGE_COUNT || !openers[i->kind])
		return 0;
	nl = calloc(1, sizeof(*nl));
	if (!nl)
		return -ENOMEM;
	nl->binary.fd = -1;
	nl->binary.debug_fd = -1;
	if (openers[i->kind](n, i, options, nl))
		*ret_lines = nl;
	else
		naming_lines_close(nl);
	return 0;
}

/* Converts an address of a module to an address of lines.h. The address is in the last section that
 * begins at or before it. Returns false if no section contains it. */
static bool module_address(struct naming_lines *nl, uint64_t addr, uint64_t *ret_addr)
{
	size_t nr = nl->has_layout ? nl->layout.sections.nr : nl->module.sections.nr;
	const struct section_address *sections =
		nl->has_layout ? nl->layout.sections.at : nl->module.sections.at;
	const struct section_address *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (sections[i].address <= addr &&
		    (!found || sections[i].address > found->address))
			found = &sections[i];
	}
	return found && !lines_position(nl->lines, found->section,
					addr - found->address, ret_addr);
}

static bool link_address(struct naming_lines *nl, uint64_t addr, uint64_t *ret_addr)
{
	if (nl->is_module)
		return module_address(nl, addr, ret_addr);
	*ret_addr = addr - nl->shift;
	return true;
}

void naming_lines_prepare(struct naming_lines *nl, uint64_t *addrs, size_t nr)
{
	size_t kept = 0;

	if (!nl->lines)
		return;
	for (size_t i = 0; i < nr; i++)
		kept += link_address(nl, addrs[i], &addrs[kept]);
	lines_prepare(nl->lines, addrs, kept);
	lines_store(nl->lines);
}

static size_t find_jit(const struct naming_lines *nl, uint64_t addr,
		       const char *function, struct line_frame *ret_frame)
{
	const struct jitdump_code *code = jit_lines_code(nl->jit_lines, addr, function);

	*ret_frame = (struct line_frame){ 0 };
	return code && jit_lines_find(nl->jit_lines, code, addr, &ret_frame->file,
				      &ret_frame->line);
}

size_t naming_lines_find(struct naming_lines *nl, uint64_t addr,
			 struct line_frame *ret_frames, size_t max)
{
	return naming_lines_find_in(nl, addr, NULL, ret_frames, max);
}

size_t naming_lines_find_in(struct naming_lines *nl, uint64_t addr,
			    const char *function, struct line_frame *ret_frames,
			    size_t max)
{
	uint64_t at;

	if (nl->jit_lines)
		return max ? find_jit(nl, addr, function, ret_frames) : 0;
	if (!nl->lines)
		return 0;
	return link_address(nl, addr, &at) ? lines_find(nl->lines, at, ret_frames, max)
					   : 0;
}

uint64_t naming_lines_reach(const struct naming_lines *nl)
{
	struct lines_reach reach;

	if (nl->jit_lines || !nl->lines || nl->is_module)
		return 0;
	lines_reach(nl->lines, &reach);
	return reach.high ? reach.high + nl->shift : 0;
}

const char *naming_lines_symbol_file(struct naming_lines *nl, uint64_t addr)
{
	struct line_symbol_name symbol;
	uint64_t at;

	if (!nl->lines || !link_address(nl, addr, &at) ||
	    !lines_symbol(nl->lines, at, NULL, &symbol))
		return NULL;
	return symbol.file;
}

void naming_lines_code(const struct naming_lines *nl, struct naming_code *ret_code)
{
	*ret_code = (struct naming_code){
		.path = nl->binary.path,
		.debug_path = nl->binary.debug_path,
		.shift = nl->shift,
	};
	if (nl->bpf) {
		ret_code->bytes = nl->bpf->bytes;
		ret_code->nr_bytes = nl->bpf->len;
		ret_code->start = nl->bpf->address;
		ret_code->machine = nl->machine;
	}
	if (!nl->is_module)
		return;
	ret_code->sections =
		nl->has_layout ? nl->layout.sections.at : nl->module.sections.at;
	ret_code->nr_sections =
		nl->has_layout ? nl->layout.sections.nr : nl->module.sections.nr;
}
