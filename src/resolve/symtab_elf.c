#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "resolve/elf_file.h"
#include "resolve/symtab.h"
#include "resolve/symtab_priv.h"
#include "resolve/xz.h"

enum {
	TABLE_MAX_BYTES =
		1 << 28, /* of a symbol or string table; Chrome's is a quarter */
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

/* One load: where symbols come from and where they go. */
struct loading {
	const struct elf_file *f; /* the one with the symbols */
	struct symtab *tab;
	symtab_candidates candidates;
	const struct symtab_segment *last_segment; /* that a symbol fell into */
	bool by_vaddr; /* a kernel: positions are addresses, not file offsets */
	const uint64_t *loaded_at; /* a module: where each section is; else NULL */
	size_t names_len;
};

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

/* Marks that assemblers leave between code and data ("$x", "$d.3", "$xrv64...": the psABIs of
 * ARM, AArch64 and RISC-V), and local labels that a linker should have dropped. */
static bool is_mark(const struct elf_file *f, const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	return name[0] == '$' && (f->machine == EM_ARM || f->machine == EM_AARCH64 ||
				  f->machine == EM_RISCV);
}

static bool is_function(unsigned int type)
{
	return type == STT_FUNC || type == STT_GNU_IFUNC;
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

/* The section a symbol is in; NULL if the file does not say (or hides it in the extended
 * index table, needed beyond 65279 sections). */
static const struct elf_section *section_of(const struct elf_file *f,
					    const struct elf_symbol *s)
{
	if (s->section >= SHN_LORESERVE || s->section >= f->sections.nr)
		return NULL;
	return &f->sections.at[s->section];
}

static const struct symtab_segment *segment_of(struct loading *l, uint64_t vaddr)
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

static bool is_wanted(const struct loading *l, const struct elf_symbol *s)
{
	unsigned int type = ELF64_ST_TYPE(s->info);
	const struct elf_section *section = section_of(l->f, s);

	if (!is_function(type) && type != STT_NOTYPE)
		return false;
	if (s->section == SHN_UNDEF || s->section == SHN_ABS ||
	    s->section == SHN_COMMON)
		return false;
	if (s->name >= l->names_len || !l->tab->names[s->name])
		return false;
	if (is_function(type))
		return true;
	return section && section->flags & SHF_EXECINSTR &&
	       !is_mark(l->f, l->tab->names + s->name);
}

/* In a module's file symbols count from their sections. */
static int take_module_symbol(struct loading *l, const struct elf_symbol *s,
			      const struct elf_section *section)
{
	uint64_t base = l->loaded_at[s->section];
	struct symtab_candidate c = {
		.offset = base + s->value,
		.size = s->size,
		.vaddr = base + s->value,
		.limit = base + section->bytes,
		.name = l->tab->names + s->name,
		.binding = binding_of(s),
		.label = !is_function(ELF64_ST_TYPE(s->info)),
	};

	if (s->value > section->bytes || base > UINT64_MAX - section->bytes)
		return 0;
	return vec_push(&l->candidates, c) ? 0 : -ENOMEM;
}

/* 0 also for a symbol that is not wanted, or lies in no segment. */
static int take_symbol(struct loading *l, const struct elf_symbol *s)
{
	const struct elf_section *section = section_of(l->f, s);
	unsigned int type = ELF64_ST_TYPE(s->info);
	const struct symtab_segment *segment;
	struct symtab_candidate c;
	uint64_t vaddr = s->value;
	uint64_t shift; /* from link-time address to position */

	if (!is_wanted(l, s))
		return 0;
	if (l->loaded_at) {
		if (!section || !l->loaded_at[s->section])
			return 0;
		return take_module_symbol(l, s, section);
	}
	if (l->f->machine == EM_ARM && is_function(type))
		vaddr &= ~(uint64_t)1; /* marks Thumb code */
	segment = segment_of(l, vaddr);
	if (!segment && !l->by_vaddr)
		return 0;
	shift = !segment || l->by_vaddr ? 0 : segment->offset - segment->vaddr;
	c = (struct symtab_candidate){
		.offset = vaddr + shift,
		.size = s->size,
		.vaddr = vaddr,
		.name = l->tab->names + s->name,
		.binding = binding_of(s),
		.label = !is_function(type),
	};
	if (section && section->vaddr <= vaddr &&
	    vaddr - section->vaddr < section->bytes)
		c.limit = section->vaddr + section->bytes + shift;
	else if (segment)
		c.limit = segment->vaddr + segment->bytes + shift;
	return vec_push(&l->candidates, c) ? 0 : -ENOMEM;
}

/* Reads the symbols of one SHT_SYMTAB or SHT_DYNSYM section into candidates; those of an
 * earlier call are dropped. */
static int read_symbols(struct loading *l, const struct elf_section *table,
			struct err *err)
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
		return err_set(err, -EBADMSG, "symbol table without names");
	names = &f->sections.at[table->link];
	if (names->type != SHT_STRTAB || names->bytes > TABLE_MAX_BYTES ||
	    table->bytes > TABLE_MAX_BYTES)
		return err_set(err, -EBADMSG, "unusable symbol table");
	if (table->entry_bytes && table->entry_bytes != entry)
		return err_set(err, -EBADMSG, "symbols of %llu bytes",
			       (unsigned long long)table->entry_bytes);
	r = elf_file_read_new(f, names->offset, names->bytes,
			      (uint8_t **)&l->tab->names);
	if (r)
		return err_set(err, r, "symbol names cut short");
	l->names_len = (size_t)names->bytes;
	r = elf_file_read_new(f, table->offset, table->bytes, &symbols);
	if (r)
		return err_set(err, r, "symbol table cut short");
	for (uint64_t at = 0; !r && table->bytes - at >= entry; at += entry) {
		struct cursor c = cursor_of(symbols + at, entry, f->swap);
		struct elf_symbol s = decode_symbol(&c, f->is64);

		r = take_symbol(l, &s);
	}
	free(symbols);
	return r ? err_set(err, r, "no memory") : 0;
}

/* .symtab, and where that has no functions .dynsym.  0 too if there are none.  *ret_type is
 * that of the table, 0 for none. */
static int read_best_table(struct loading *l, uint32_t *ret_type, struct err *err)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	int worst = 0;

	*ret_type = 0;
	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (size_t i = 0; i < l->f->sections.nr; i++) {
			const struct elf_section *s = &l->f->sections.at[i];
			int r;

			if (s->type != types[t])
				continue;
			r = read_symbols(l, s, err);
			if (r == -ENOMEM)
				return r;
			if (!r && l->candidates.nr) {
				*ret_type = types[t];
				return 0;
			}
			if (r)
				worst = r;
			break; /* there is one of each kind */
		}
	}
	l->candidates.nr = 0;
	return worst;
}

static int keep_segments(struct symtab *tab, const struct elf_file *f, struct err *err)
{
	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];
		struct symtab_segment keep = { s->offset, s->file_bytes, s->vaddr };

		if (s->type == PT_LOAD && !vec_push(&tab->segments, keep))
			return err_set(err, -ENOMEM, "no memory");
	}
	return 0;
}

/* Appends the candidates of the small ELF file that distributions put, xz-compressed, into
 * .gnu_debugdata: what .symtab had and .dynsym does not.  Its sections have the binary's
 * addresses.  Source: GDB manual, "MiniDebugInfo". */
static int add_mini_elf(struct loading *l, const struct buf *bytes)
{
	struct symtab names = { 0 };
	struct loading mini = { .tab = &names };
	struct elf_file f;
	uint32_t type;
	int r = elf_file_init_bytes(&f, bytes->data, bytes->len, NULL);

	if (r)
		return r;
	mini.f = &f;
	names.segments.at = l->tab->segments.at; /* borrowed: the binary's count */
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

/* 0 too where there is none, or it cannot be read: then the other symbols must do. */
static int add_debugdata(struct loading *l, struct elf_file *f)
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
	r = xz_unpack(packed, (size_t)s->bytes, DEBUGDATA_MAX, &unpacked);
	free(packed);
	if (!r)
		r = add_mini_elf(l, &unpacked);
	buf_done(&unpacked);
	return r == -ENOMEM ? r : 0;
}

static int load_tables(struct loading *l, struct elf_file *with_symbols,
		       struct err *err)
{
	uint32_t type;
	int r = elf_file_sections(with_symbols, err);

	if (r)
		return r;
	r = read_best_table(l, &type, err);
	if (!r && type != SHT_SYMTAB && add_debugdata(l, with_symbols))
		r = err_set(err, -ENOMEM, "no memory");
	if (r)
		return r;
	r = symtab_build(l->tab, &l->candidates);
	return r ? err_set(err, r, "no memory") : 0;
}

/* A kernel's positions are relative to its first byte of text, which records call _text, or
 * where that is missing _stext. */
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

/* Makes the table of positions that are relative to `base`. */
static int build_from(struct loading *l, uint64_t base, struct err *err)
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
	l->tab->segments.nr = 0; /* they speak of file offsets */
	l->tab->run_base = base;
	r = symtab_build(l->tab, &l->candidates);
	return r ? err_set(err, r, "no memory") : 0;
}

/* The link-time address of a symbol.  False: there is none of that name. */
static bool find_address(const symtab_candidates *c, const char *name,
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

static int load_kernel_tables(struct loading *l, struct elf_file *f, bool relative,
			      struct err *err)
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
	struct loading l = { .by_vaddr = true };
	struct elf_file f;
	uint64_t vaddr = 0;
	uint32_t type;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	l.f = &f;
	l.tab = calloc(1, sizeof(*l.tab));
	r = l.tab ? elf_file_sections(&f, err) : err_set(err, -ENOMEM, "no memory");
	if (!r)
		r = read_best_table(&l, &type, err);
	if (!r && !find_address(&l.candidates, ref_name, &vaddr))
		r = err_set(err, -ENODATA, "no symbol %s", ref_name);
	if (!r)
		r = build_from(&l, vaddr - ref_offset, err);
	vec_done(&l.candidates);
	elf_file_done(&f);
	if (r)
		symtab_free(l.tab);
	else
		*ret_tab = l.tab;
	return r;
}

/* Where each section of a module's file was loaded; 0: nowhere.  malloc'd. */
static uint64_t *places_of(struct elf_file *f, const struct symtab_place *places,
			   size_t nr_places)
{
	uint64_t *at = calloc(f->sections.nr + 1, sizeof(*at));

	for (size_t i = 0; at && i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];
		const char *name = elf_file_section_name(f, s);

		/* The memory of .init sections is given back after loading. */
		if (!(s->flags & SHF_ALLOC) || strncmp(name, ".init", 5) == 0)
			continue;
		for (size_t p = 0; p < nr_places && !at[i]; p++)
			if (strcmp(places[p].section, name) == 0)
				at[i] = places[p].address;
	}
	return at;
}

int symtab_load_module_fd(int fd, const struct symtab_place *places, size_t nr_places,
			  uint64_t start, struct symtab **ret_tab, struct err *err)
{
	struct loading l = { .by_vaddr = true };
	uint64_t *loaded_at = NULL;
	struct elf_file f;
	uint32_t type;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	l.f = &f;
	l.tab = calloc(1, sizeof(*l.tab));
	if (!l.tab) {
		elf_file_done(&f);
		return err_set(err, -ENOMEM, "no memory");
	}
	r = elf_file_sections(&f, err);
	if (!r) {
		l.loaded_at = loaded_at = places_of(&f, places, nr_places);
		r = loaded_at ? read_best_table(&l, &type, err)
			      : err_set(err, -ENOMEM, "no memory");
	}
	if (!r)
		r = build_from(&l, start, err);
	if (!r && !symtab_count(l.tab))
		r = err_set(err, -ENODATA, "no symbols");
	free(loaded_at);
	vec_done(&l.candidates);
	elf_file_done(&f);
	if (r)
		symtab_free(l.tab);
	else
		*ret_tab = l.tab;
	return r;
}

/* What the loaders share: `mapped` has the segments, `with_symbols` the sections. */
static int load(const struct elf_file *mapped, struct elf_file *with_symbols,
		enum symtab_positions positions, struct symtab **ret_tab,
		struct err *err)
{
	struct loading l = { .f = with_symbols };
	int r;

	l.tab = calloc(1, sizeof(*l.tab));
	if (!l.tab)
		return err_set(err, -ENOMEM, "no memory");
	r = keep_segments(l.tab, mapped, err);
	if (!r && positions == SYMTAB_FILE_OFFSETS)
		r = load_tables(&l, with_symbols, err);
	else if (!r)
		r = load_kernel_tables(&l, with_symbols, positions == SYMTAB_FROM_TEXT,
				       err);
	vec_done(&l.candidates);
	if (r) {
		symtab_free(l.tab);
		return r;
	}
	*ret_tab = l.tab;
	return symtab_count(l.tab) ? 0 : err_set(err, -ENODATA, "no symbols");
}

int symtab_load_elf_fd(int fd, enum symtab_positions positions, struct symtab **ret_tab,
		       struct err *err)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	r = load(&f, &f, positions, ret_tab, err);
	elf_file_done(&f);
	return r;
}

int symtab_load_elf_debug(int fd, int debug_fd, struct symtab **ret_tab,
			  struct err *err)
{
	struct elf_file mapped;
	struct elf_file debug;
	int r = elf_file_init_fd(&mapped, fd, err);

	if (r)
		return r;
	r = elf_file_init_fd(&debug, debug_fd, err);
	if (!r) {
		r = load(&mapped, &debug, SYMTAB_FILE_OFFSETS, ret_tab, err);
		elf_file_done(&debug);
	}
	elf_file_done(&mapped);
	return r;
}

int symtab_load_elf(const char *path, struct symtab **ret_tab, struct err *err)
{
	int fd = elf_open_regular(path);
	int r;

	if (fd < 0)
		return err_sys(err, fd, "%s", path);
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
	r = load(&f, &f, SYMTAB_FILE_OFFSETS, ret_tab, err);
	elf_file_done(&f);
	return r;
}
