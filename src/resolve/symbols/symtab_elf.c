/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symtab_elf.c - reads the functions of an ELF file's symbol tables. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "resolve/elf/file.h"
#include "resolve/elf/unpacked.h"
#include "resolve/elf/xz.h"
#include "resolve/go/table.h"
#include "resolve/symbols/symbol_rules.h"
#include "resolve/symbols/symtab.h"
#include "resolve/symbols/symtab_priv.h"

enum {
	/* Limit for a symbol or string table; Chrome's has a quarter. */
	TABLE_MAX_BYTES = 1 << 28,
	DEBUGDATA_PACKED_MAX = 32 << 20,
	DEBUGDATA_MAX = 128 << 20
};

struct elf_symbol {
	uint32_t name; /* offset in the string table */
	uint8_t info;
	uint16_t section;
	uint64_t value;
	uint64_t size;
};

/* State of a load. */
struct symtab_elf_loading {
	const struct elf_file *f; /* the file with the symbols */
	struct symbol_rules rules;
	struct symtab *tab;
	symtab_candidates candidates;
	/* The segment of the previous symbol. */
	const struct symtab_segment *last_segment;
	bool by_vaddr;    /* a kernel: positions are addresses, not file offsets */
	bool data;        /* read objects instead of functions */
	bool as_oprofile; /* SYMTAB_AS_OPROFILE */
	const uint64_t *loaded_at; /* a module: address of each section; else NULL */
	size_t names_len;
};

/* Creates an empty table for the symbols of `f`; the file `code` contains the code. The caller
 * calls symtab_elf_end() in any case. */
static int symtab_elf_begin(struct symtab_elf_loading *l, const struct elf_file *f,
			    struct elf_file *code, struct err *err)
{
	l->f = f;
	l->tab = calloc(1, sizeof(*l->tab));
	if (!l->tab || symbol_rules_init(&l->rules, code))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Frees the state and returns `r`. The caller owns the table if `r` is 0. */
static int symtab_elf_end(struct symtab_elf_loading *l, int r, struct symtab **ret_tab)
{
	vec_done(&l->candidates);
	symbol_rules_done(&l->rules);
	if (r)
		symtab_free(l->tab);
	else
		*ret_tab = l->tab;
	return r;
}

static struct elf_symbol decode_symbol(struct cursor *c, bool is64)
{
	struct elf_symbol s;

	s.name = cursor_u32(c);
	if (is64) {
		s.info = cursor_u8(c);
		cursor_u8(c); /* st_other */
		s.section = cursor_u16(c);
		s.value = cursor_u64(c);
		s.size = cursor_u64(c);
		return s;
	}
	s.value = cursor_u32(c);
	s.size = cursor_u32(c);
	s.info = cursor_u8(c);
	cursor_u8(c);
	s.section = cursor_u16(c);
	return s;
}

static enum symtab_binding binding_of(const struct elf_symbol *s)
{
	switch (ELF64_ST_BIND(s->info)) {
	case STB_GLOBAL:
		return SYMTAB_GLOBAL;
	case STB_WEAK:
		return SYMTAB_WEAK;
	default:
		return SYMTAB_LOCAL;
	}
}

/* Returns the section of a symbol; NULL if the file does not say (or it is in the extended
 * index table, for files with more than 65279 sections). */
static const struct elf_section *section_of(const struct elf_file *f,
					    const struct elf_symbol *s)
{
	if (s->section >= SHN_LORESERVE || s->section >= f->sections.nr)
		return NULL;
	return &f->sections.at[s->section];
}

static const struct symtab_segment *segment_of(struct symtab_elf_loading *l,
					       uint64_t vaddr)
{
	const struct symtab_segment *s = l->last_segment;

	if (s && vaddr >= s->vaddr && vaddr - s->vaddr < s->bytes)
		return s;
	for (size_t i = 0; i < l->tab->segments.nr; i++) {
		s = &l->tab->segments.at[i];
		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->bytes) {
			l->last_segment = s;
			return s;
		}
	}
	return NULL;
}

/* Returns whether an untyped symbol in this section is a label of code or, when data symbols are
 * loaded, of data. */
static bool holds_labels(const struct symtab_elf_loading *l,
			 const struct elf_section *section)
{
	if (!section)
		return false;
	if (!l->data)
		return section->flags & SHF_EXECINSTR;
	return section->type == SHT_PROGBITS && section->flags & SHF_ALLOC &&
	       !(section->flags & SHF_EXECINSTR);
}

/* Returns whether a symbol belongs into the table. `typed`: the symbol is a function or, when
 * reading data, an object. */
static bool symtab_elf_is_wanted(const struct symtab_elf_loading *l,
				 const struct elf_symbol *s,
				 const struct elf_section *section, bool typed)
{
	if (!typed && ELF64_ST_TYPE(s->info) != STT_NOTYPE)
		return false;
	if (s->section == SHN_UNDEF || s->section == SHN_ABS ||
	    s->section == SHN_COMMON)
		return false;
	if (s->name >= l->names_len || !l->tab->names[s->name])
		return false;
	return typed || (holds_labels(l, section) &&
			 !symbol_rules_is_mark(&l->rules, l->tab->names + s->name));
}

/* Takes a symbol of a module's file, where symbols are relative to their sections. Returns 0 or
 * -ENOMEM. */
static int take_module_symbol(struct symtab_elf_loading *l, struct symtab_candidate *c,
			      const struct elf_symbol *s)
{
	const struct elf_section *section = section_of(l->f, s);
	uint64_t base = section ? l->loaded_at[s->section] : 0;

	if (!base || c->vaddr > section->bytes || base > UINT64_MAX - section->bytes)
		return 0;
	/* A function descriptor, which only the kernel has relocated. */
	if (l->f->machine == EM_PPC64 && !(section->flags & SHF_EXECINSTR))
		return 0;
	c->vaddr += base;
	c->offset = c->vaddr;
	c->limit = base + section->bytes;
	return vec_push(&l->candidates, *c) ? 0 : -ENOMEM;
}

/* Adds a symbol. Returns 0 also if it is not wanted, or in no segment. */
static int symtab_elf_take_symbol(struct symtab_elf_loading *l,
				  const struct elf_symbol *s)
{
	const struct elf_section *section = section_of(l->f, s);
	uint8_t type = ELF64_ST_TYPE(s->info);
	bool function = !l->data && symbol_rules_is_function(&l->rules, type);
	bool typed = function || (l->data && type == STT_OBJECT);
	const struct symtab_segment *segment;
	uint64_t shift; /* from link-time address to position */
	struct symtab_candidate c;

	if (!symtab_elf_is_wanted(l, s, section, typed))
		return 0;
	c = (struct symtab_candidate){
		.size = s->size,
		.vaddr = s->value,
		.name = l->tab->names + s->name,
		.binding = binding_of(s),
		.label = !typed && !l->as_oprofile,
		.as_oprofile = l->as_oprofile,
	};
	if (l->as_oprofile)
		c.size = 0;
	if (!l->rules.plain &&
	    !symbol_rules_translate(&l->rules, function, &c.name, &c.vaddr))
		return 0;
	if (l->loaded_at)
		return take_module_symbol(l, &c, s);
	segment = segment_of(l, c.vaddr);
	if (!segment && !l->by_vaddr)
		return 0;
	shift = !segment || l->by_vaddr ? 0 : segment->offset - segment->vaddr;
	c.offset = c.vaddr + shift;
	if (section && section->vaddr <= c.vaddr &&
	    c.vaddr - section->vaddr < section->bytes)
		c.limit = section->vaddr + section->bytes + shift;
	else if (segment)
		c.limit = segment->vaddr + segment->bytes + shift;
	return vec_push(&l->candidates, c) ? 0 : -ENOMEM;
}

/* Reads the symbols of an SHT_SYMTAB or SHT_DYNSYM section into candidates, replacing those of
 * an earlier call. */
static int symtab_elf_read_symbols(struct symtab_elf_loading *l,
				   const struct elf_section *table, struct err *err)
{
	const struct elf_file *f = l->f;
	uint32_t entry = f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const struct elf_section *names;
	uint8_t *symbols;
	int r;

	l->candidates.nr = 0;
	free(l->tab->names);
	l->tab->names = NULL;
	if (table->link >= f->sections.nr)
		return err_set(err, -EBADMSG, "symbol table has no names");
	names = &f->sections.at[table->link];
	if (names->type != SHT_STRTAB || names->bytes > TABLE_MAX_BYTES ||
	    table->bytes > TABLE_MAX_BYTES)
		return err_set(err, -EBADMSG, "unusable symbol table");
	if (table->entry_bytes && table->entry_bytes != entry)
		return err_set(err, -EBADMSG,
			       "symbols have an invalid size of %llu bytes",
			       (unsigned long long)table->entry_bytes);
	r = elf_file_read_new(f, names->offset, names->bytes,
			      (uint8_t **)&l->tab->names);
	if (r)
		return err_set(err, r, "symbol names are truncated");
	l->names_len = (size_t)names->bytes;
	r = elf_file_read_new(f, table->offset, table->bytes, &symbols);
	if (r)
		return err_set(err, r, "symbol table is truncated");
	for (uint64_t at = 0; !r && table->bytes - at >= entry; at += entry) {
		struct cursor c = cursor_of(symbols + at, entry, f->swap);
		struct elf_symbol s = decode_symbol(&c, f->is64);

		r = symtab_elf_take_symbol(l, &s);
	}
	free(symbols);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Reads .symtab or, if that has no functions, .dynsym. Returns 0 also if there are none.
 * *ret_type is the type of the table, 0 for none. */
static int read_best_table(struct symtab_elf_loading *l, uint32_t *ret_type,
			   struct err *err)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	int worst = 0;

	*ret_type = 0;
	for (size_t t = 0; t < COUNT_OF(types); t++) {
		for (size_t i = 0; i < l->f->sections.nr; i++) {
			const struct elf_section *s = &l->f->sections.at[i];
			int r;

			if (s->type != types[t])
				continue;
			r = symtab_elf_read_symbols(l, s, err);
			if (r == -ENOMEM)
				return r;
			if (!r && l->candidates.nr) {
				*ret_type = types[t];
				return 0;
			}
			if (r)
				worst = r;
			break; /* there is only one of each kind */
		}
	}
	l->candidates.nr = 0;
	return worst;
}

static int keep_segments(struct symtab *tab, const struct elf_file *f, bool data,
			 struct err *err)
{
	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];
		uint64_t bytes = data ? s->mem_bytes : s->file_bytes;
		struct symtab_segment keep = { s->offset, bytes, s->vaddr };

		if (s->type == PT_LOAD && !vec_push(&tab->segments, keep))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Appends the candidates of the small ELF file that distributions put, xz-compressed, into
 * .gnu_debugdata: the symbols of .symtab that are not in .dynsym. Its sections have the
 * binary's addresses. Source: GDB manual, "MiniDebugInfo". */
static int add_mini_elf(struct symtab_elf_loading *l, const struct buf *bytes)
{
	struct symtab names = { 0 };
	struct symtab_elf_loading mini = { .tab = &names };
	struct elf_file f;
	uint32_t type;
	int r = elf_file_init_bytes(&f, bytes->data, bytes->len, NULL);

	if (r)
		return r;
	mini.f = &f;
	mini.rules = l->rules;                   /* borrowed from the binary */
	names.segments.at = l->tab->segments.at; /* borrowed from the binary */
	names.segments.nr = l->tab->segments.nr;
	r = elf_file_sections(&f, NULL);
	if (!r)
		r = read_best_table(&mini, &type, NULL);
	for (size_t i = 0; !r && i < mini.candidates.nr; i++) {
		if (!vec_push(&l->candidates, mini.candidates.at[i]))
			r = -ENOMEM;
	}
	l->tab->more_names = names.names;
	vec_done(&mini.candidates);
	elf_file_done(&f);
	return r;
}

/* Adds the symbols of .gnu_debugdata. Returns 0 also if the section is missing or cannot be read;
 * the table then has only the other symbols. */
static int add_debugdata(struct symtab_elf_loading *l, struct elf_file *f)
{
	const struct elf_section *s = elf_file_find_section(f, ".gnu_debugdata");
	struct buf unpacked = { 0 };
	uint8_t *packed;
	int r;

	if (!s)
		return 0;
	r = elf_file_section_bytes(f, s, DEBUGDATA_PACKED_MAX, &packed);
	if (r)
		return r == -ENOMEM ? r : 0;
	r = xz_unpack(packed, (size_t)s->bytes,
		      unpacked_limit((size_t)s->bytes, DEBUGDATA_MAX), &unpacked);
	free(packed);
	if (!r)
		r = add_mini_elf(l, &unpacked);
	buf_done(&unpacked);
	return r == -ENOMEM ? r : 0;
}

/* Appends the functions in the table that Go programs have even if they were stripped. Returns 0
 * also if there is no usable table. */
static int add_go_functions(struct symtab_elf_loading *l, struct elf_file *f)
{
	struct go_table *t;
	int r = go_table_open(f, false, &t);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; !r && i < go_table_count(t); i++) {
		const struct symtab_segment *segment;
		struct symtab_candidate c = { .binding = SYMTAB_GLOBAL };
		struct go_function fn;

		if (!go_table_function(t, i, &fn))
			continue;
		segment = segment_of(l, fn.low);
		if (!segment)
			continue;
		c.name = fn.name;
		c.vaddr = fn.low;
		c.offset = fn.low - segment->vaddr + segment->offset;
		c.size = fn.high - fn.low;
		r = vec_push(&l->candidates, c) ? 0 : -ENOMEM;
	}
	go_table_take_names(t, &l->tab->more_names);
	go_table_free(t);
	return r;
}

/* Appends the functions that .dynsym lacks. */
static int add_beyond_dynsym(struct symtab_elf_loading *l, struct elf_file *f)
{
	int r = add_debugdata(l, f);

	return r || l->tab->more_names ? r : add_go_functions(l, f);
}

static int load_tables(struct symtab_elf_loading *l, struct elf_file *with_symbols,
		       struct err *err)
{
	uint32_t type;
	int r = elf_file_sections(with_symbols, err);

	if (r)
		return r;
	if (with_symbols->is_pe && !l->data) {
		r = symtab_read_pe(with_symbols, &l->candidates, &l->tab->names);
		if (!r)
			r = symtab_build(l->tab, &l->candidates);
		return r ? err_set(err, r, "out of memory") : 0;
	}
	r = read_best_table(l, &type, err);
	if (!r && !l->data && type != SHT_SYMTAB && add_beyond_dynsym(l, with_symbols))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r)
		return r;
	r = symtab_build(l->tab, &l->candidates);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Returns the base of a kernel's positions: its first byte of text, which recordings call _text
 * or, if that is missing, _stext. */
static uint64_t kernel_base(const symtab_candidates *c)
{
	uint64_t base = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (strcmp(c->at[i].name, "_text") == 0)
			return c->at[i].vaddr;
		if (strcmp(c->at[i].name, "_stext") == 0)
			base = c->at[i].vaddr;
	}
	return base;
}

/* Makes the table, with positions relative to `base`. */
static int build_from(struct symtab_elf_loading *l, uint64_t base, struct err *err)
{
	size_t nr = 0;
	int r;

	for (size_t i = 0; i < l->candidates.nr; i++) {
		struct symtab_candidate c = l->candidates.at[i];

		if (c.offset < base)
			continue;
		c.offset -= base;
		c.limit -= c.limit >= base ? base : c.limit;
		l->candidates.at[nr++] = c;
	}
	l->candidates.nr = nr;
	l->tab->segments.nr = 0; /* they map file offsets */
	l->tab->run_base = base;
	r = symtab_build(l->tab, &l->candidates);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Finds the link-time address of a symbol by name. Returns false if not found. */
static bool symtab_elf_find_address(const symtab_candidates *c, const char *name,
				    uint64_t *ret_vaddr)
{
	for (size_t i = 0; i < c->nr; i++) {
		if (!strcmp(c->at[i].name, name)) {
			*ret_vaddr = c->at[i].vaddr;
			return true;
		}
	}
	return false;
}

static int load_kernel_tables(struct symtab_elf_loading *l, struct elf_file *f,
			      bool relative, struct err *err)
{
	uint32_t type;
	int r = elf_file_sections(f, err);

	l->by_vaddr = true;
	if (!r)
		r = read_best_table(l, &type, err);
	if (r)
		return r;
	return build_from(l, relative ? kernel_base(&l->candidates) : 0, err);
}

int symtab_load_kernel_fd(int fd, const char *ref_name, uint64_t ref_offset,
			  struct symtab **ret_tab, struct err *err)
{
	struct symtab_elf_loading l = { .by_vaddr = true };
	struct elf_file f;
	uint64_t vaddr = 0;
	uint32_t type;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	r = symtab_elf_begin(&l, &f, &f, err);
	if (!r)
		r = elf_file_sections(&f, err);
	if (!r)
		r = read_best_table(&l, &type, err);
	if (!r && !symtab_elf_find_address(&l.candidates, ref_name, &vaddr))
		r = err_set(err, -ENODATA, "no symbol %s", ref_name);
	if (!r)
		r = build_from(&l, vaddr - ref_offset, err);
	r = symtab_elf_end(&l, r, ret_tab);
	elf_file_done(&f);
	return r;
}

/* Returns the address of each section of a module's file (malloc'd); 0: not loaded. */
static uint64_t *symtab_section_addresses(struct elf_file *f,
					  const struct section_address *sections,
					  size_t nr_sections)
{
	uint64_t *at = calloc(f->sections.nr + 1, sizeof(*at));

	for (size_t i = 0; at && i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];
		const char *name = elf_file_section_name(f, s);

		/* The kernel frees .init sections after loading. */
		if (!(s->flags & SHF_ALLOC) || strncmp(name, ".init", 5) == 0)
			continue;
		for (size_t p = 0; p < nr_sections && !at[i]; p++)
			if (strcmp(sections[p].section, name) == 0)
				at[i] = sections[p].address;
	}
	return at;
}

int symtab_load_module_fd(int fd, const struct section_address *sections,
			  size_t nr_sections, uint64_t start, struct symtab **ret_tab,
			  struct err *err)
{
	struct symtab_elf_loading l = { .by_vaddr = true };
	uint64_t *loaded_at = NULL;
	struct elf_file f;
	uint32_t type;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	r = symtab_elf_begin(&l, &f, &f, err);
	if (!r)
		r = elf_file_sections(&f, err);
	if (!r) {
		l.loaded_at = loaded_at =
			symtab_section_addresses(&f, sections, nr_sections);
		r = loaded_at ? read_best_table(&l, &type, err)
			      : err_set(err, -ENOMEM, "out of memory");
	}
	if (!r)
		r = build_from(&l, start, err);
	if (!r && !symtab_count(l.tab))
		r = err_set(err, -ENODATA, "no symbols");
	r = symtab_elf_end(&l, r, ret_tab);
	free(loaded_at);
	elf_file_done(&f);
	return r;
}

/* Common code of the loaders: `mapped` has the segments, `with_symbols` the sections. */
static int symtab_elf_load(struct elf_file *mapped, struct elf_file *with_symbols,
			   enum symtab_positions positions, bool data,
			   struct symtab **ret_tab, struct err *err)
{
	struct symtab_elf_loading l = { .data = data,
					.as_oprofile =
						positions == SYMTAB_AS_OPROFILE };
	int r = symtab_elf_begin(&l, with_symbols, mapped, err);

	if (!r)
		r = keep_segments(l.tab, mapped, data, err);
	if (!r && (positions == SYMTAB_FILE_OFFSETS || positions == SYMTAB_AS_OPROFILE))
		r = load_tables(&l, with_symbols, err);
	else if (!r)
		r = load_kernel_tables(&l, with_symbols, positions == SYMTAB_FROM_TEXT,
				       err);
	r = symtab_elf_end(&l, r, ret_tab);
	if (!r && !symtab_count(*ret_tab))
		r = err_set(err, -ENODATA, "no symbols");
	return r;
}

int symtab_load_elf_fd(int fd, enum symtab_positions positions, struct symtab **ret_tab,
		       struct err *err)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	r = symtab_elf_load(&f, &f, positions, false, ret_tab, err);
	elf_file_done(&f);
	return r;
}

/* Loads the symbols from the debug file of a mapped file. */
static int load_debug(int fd, int debug_fd, enum symtab_positions positions, bool data,
		      struct symtab **ret_tab, struct err *err)
{
	struct elf_file mapped;
	struct elf_file debug;
	int r = elf_file_init_fd(&mapped, fd, err);

	if (r)
		return r;
	r = elf_file_init_fd(&debug, debug_fd, err);
	if (!r) {
		r = symtab_elf_load(&mapped, &debug, positions, data, ret_tab, err);
		elf_file_done(&debug);
	}
	elf_file_done(&mapped);
	return r;
}

int symtab_load_elf_debug(int fd, int debug_fd, enum symtab_positions positions,
			  struct symtab **ret_tab, struct err *err)
{
	return load_debug(fd, debug_fd, positions, false, ret_tab, err);
}

int symtab_load_elf_data(int fd, int debug_fd, struct symtab **ret_tab, struct err *err)
{
	return load_debug(fd, debug_fd >= 0 ? debug_fd : fd, SYMTAB_FILE_OFFSETS, true,
			  ret_tab, err);
}

int symtab_load_elf(const char *path, struct symtab **ret_tab, struct err *err)
{
	int fd = elf_open_regular(path);
	int r;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	r = symtab_load_elf_fd(fd, SYMTAB_FILE_OFFSETS, ret_tab, err);
	close(fd);
	if (r)
		err_prefix(err, "%s", path);
	return r;
}

int symtab_load_elf_bytes(const void *bytes, size_t len, struct symtab **ret_tab,
			  struct err *err)
{
	struct elf_file f;
	int r = elf_file_init_bytes(&f, bytes, len, err);

	if (r)
		return r;
	r = symtab_elf_load(&f, &f, SYMTAB_FILE_OFFSETS, false, ret_tab, err);
	elf_file_done(&f);
	return r;
}
