#include "resolve/hit_sources.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "resolve/elf_file.h"

struct search {
	Dwarf *dw;
	uint64_t *addrs; /* ascending */
	size_t nr;
	hit_source_fn fn;
	void *ctx;
};

/* The number of the first address that is not below `low`. */
static size_t first_from(const struct search *s, uint64_t low)
{
	size_t begin = 0, end = s->nr;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (s->addrs[middle] < low)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

static bool has_hit(const struct search *s, uint64_t low, uint64_t high)
{
	size_t at = first_from(s, low);

	return at < s->nr && s->addrs[at] < high;
}

/* As the loader maps them.  What no segment covers is left out. */
static int link_addresses(const struct elf_file *f, const uint64_t *offsets, size_t nr,
			  struct search *s)
{
	s->addrs = calloc(nr ? nr : 1, sizeof(*s->addrs));
	if (!s->addrs)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < f->segments.nr; k++) {
			const struct elf_segment *seg = &f->segments.at[k];

			if (seg->type != PT_LOAD || offsets[i] < seg->offset ||
			    offsets[i] - seg->offset >= seg->file_bytes)
				continue;
			s->addrs[s->nr++] = offsets[i] - seg->offset + seg->vaddr;
			break;
		}
	return 0;
}

static int compare_addrs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static const char *compile_dir(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *dir = NULL;

	if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
		dir = dwarf_formstring(&attr);
	return dir ? dir : "";
}

/* Units without ranges may be anywhere. */
static bool unit_has_hit(const struct search *s, Dwarf_Die *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		any = true;
		if (has_hit(s, low, high))
			return true;
	}
	return !any;
}

static int tell_lines(const struct search *s, Dwarf_Die *unit, const char *dir)
{
	Dwarf_Lines *lines;
	const char *last = NULL;
	size_t nr;
	int r = 0;

	if (dwarf_getsrclines(unit, &lines, &nr))
		return 0;
	for (size_t i = 0; !r && i + 1 < nr; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Line *next = dwarf_onesrcline(lines, i + 1);
		Dwarf_Addr low, high;
		const char *path;
		bool end = false;

		if (!line || !next || dwarf_lineendsequence(line, &end) || end ||
		    dwarf_lineaddr(line, &low) || dwarf_lineaddr(next, &high) ||
		    !has_hit(s, low, high))
			continue;
		path = dwarf_linesrc(line, NULL, NULL);
		if (path && path != last)
			r = s->fn(s->ctx, path, dir);
		last = path;
	}
	return r;
}

/* The lines that called what was inlined at an address. */
static int tell_callers(const struct search *s, Dwarf_Die *unit, uint64_t addr,
			const char *dir)
{
	Dwarf_Die *scopes = NULL;
	Dwarf_Files *files;
	size_t nr_files;
	int nr = dwarf_getscopes(unit, addr, &scopes);
	int r = 0;

	if (nr > 0 && dwarf_getsrcfiles(unit, &files, &nr_files))
		nr = 0;
	for (int i = 0; !r && i < nr; i++) {
		Dwarf_Attribute attr;
		Dwarf_Word number;
		const char *path;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine ||
		    !dwarf_attr(&scopes[i], DW_AT_call_file, &attr) ||
		    dwarf_formudata(&attr, &number) || number >= nr_files)
			continue;
		path = dwarf_filesrc(files, number, NULL, NULL);
		if (path)
			r = s->fn(s->ctx, path, dir);
	}
	free(scopes);
	return r;
}

static int search_unit(const struct search *s, Dwarf_Die *unit)
{
	const char *dir = compile_dir(unit);
	int r;

	if (!unit_has_hit(s, unit))
		return 0;
	r = tell_lines(s, unit, dir);
	for (size_t i = 0; !r && i < s->nr; i++)
		if (dwarf_haspc(unit, s->addrs[i]) == 1)
			r = tell_callers(s, unit, s->addrs[i], dir);
	return r;
}

static int search_all(const struct search *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, skeleton;
	uint8_t type;
	int r = 0;

	while (!r && !dwarf_get_units(s->dw, cu, &cu, NULL, &type, &unit, &skeleton))
		if (type == DW_UT_compile)
			r = search_unit(s, &unit);
		else if (type == DW_UT_skeleton)
			r = search_unit(s, &skeleton);
	return r;
}

static int read_addresses(int fd, const uint64_t *offsets, size_t nr, struct search *s)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, NULL);

	if (r)
		return r;
	r = link_addresses(&f, offsets, nr, s);
	elf_file_done(&f);
	if (!r)
		qsort(s->addrs, s->nr, sizeof(*s->addrs), compare_addrs);
	return r;
}

int hit_sources(const char *path, const char *debug_path, const uint64_t *offsets,
		size_t nr, hit_source_fn fn, void *ctx)
{
	struct search s = { .fn = fn, .ctx = ctx };
	int fd = elf_open_regular(path), debug_fd = -1, r;

	if (fd < 0)
		return fd;
	r = read_addresses(fd, offsets, nr, &s);
	if (!r && debug_path) {
		debug_fd = elf_open_regular(debug_path);
		r = debug_fd < 0 ? debug_fd : 0;
	}
	if (!r)
		s.dw = dwarf_begin(debug_path ? debug_fd : fd, DWARF_C_READ);
	if (s.dw) {
		r = search_all(&s);
		dwarf_end(s.dw);
	}
	if (debug_fd >= 0)
		close(debug_fd);
	close(fd);
	free(s.addrs);
	return r;
}
