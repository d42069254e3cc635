/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/go/table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "resolve/elf/file.h"
#include "resolve/go/relocated.h"

enum {
	HEAD_BYTES = 8,
	VARINT_BYTES_MAX = 5,
	/* Limits of the search for Go's description of the module. */
	DATA_MAX_BYTES = 1 << 26,
	MODULE_TEXT_WORD = 22,
	MODULE_GOFUNC_FIRST = 36, /* its position depends on the version */
	MODULE_GOFUNC_END = 48,
	/* Functions with inlined calls that are checked to find the position. */
	TRIED_CALLS = 32,
	PCDATA_INLINE = 2,
	FUNCDATA_INLINE = 3,
	FUNCDATA_INLINE_OLD = 4, /* before Go 1.16 */
	TABLE_ALIGN = 8,
	/* The flag of functions that are the first of a stack; it is in the byte two before the
	 * number of function data. */
	FLAG_FIRST = 1
};

/* The differences between the layouts. Offsets in a function's record are relative to the end of
 * its address. */
struct go_layout {
	uint32_t magic;
	uint8_t names_word; /* of the header, followed by four more offsets; 0: none */
	bool offsets;    /* addresses are 32-bit offsets from the start of the code */
	uint8_t line_at; /* of the declaration; 0: none */
	uint8_t nr_funcdata_at;
	uint8_t call_bytes; /* size of an inlined call's entry; 0: not read */
	uint8_t call_name_at;
	uint8_t call_parent_at;
	uint8_t call_line_at; /* 0: none */
};

static const struct go_layout layouts[] = {
	{ .magic = 0xfffffffb,
	  /* Exists since Go 1.12, the first version with inlined calls. */
	  .nr_funcdata_at = 31,
	  .call_bytes = 20,
	  .call_name_at = 12,
	  .call_parent_at = 16 },
	{ .magic = 0xfffffffa,
	  .names_word = 2,
	  .nr_funcdata_at = 35,
	  .call_bytes = 20,
	  .call_name_at = 12,
	  .call_parent_at = 16 },
	{ .magic = 0xfffffff0,
	  .names_word = 3,
	  .offsets = true,
	  .nr_funcdata_at = 35,
	  .call_bytes = 20,
	  .call_name_at = 12,
	  .call_parent_at = 16 },
	{ .magic = 0xfffffff1,
	  .names_word = 3,
	  .offsets = true,
	  .line_at = 32,
	  .nr_funcdata_at = 39,
	  .call_bytes = 16,
	  .call_name_at = 4,
	  .call_parent_at = 8,
	  .call_line_at = 12 },
};

/* Offsets in a function's record that are common to all layouts. */
enum {
	RECORD_NAME = 0,
	RECORD_FRAME = 12,
	RECORD_FILES = 16,
	RECORD_LINES = 20,
	RECORD_NR_PCDATA = 24,
	RECORD_UNIT = 28
};

struct go_area {
	size_t at;
	size_t end;
};

struct go_table {
	const struct go_layout *layout;
	const struct elf_file *f; /* NULL: only the bytes are known */
	uint64_t vaddr;
	uint8_t *bytes;
	size_t len;
	const char *names; /* followed by a zero byte */
	size_t names_len;
	char *own_names; /* memory of `names` to free; NULL: the names are in `bytes` */
	bool swap;
	uint8_t ptr_bytes;
	uint8_t quantum; /* all sizes of code are multiples of it */
	size_t nr;
	uint64_t text; /* added to addresses that are offsets */
	struct go_area functions;
	struct go_area units; /* for each unit: offsets in `files`, by file number */
	struct go_area files;
	struct go_area values;
	struct go_area records;
	uint64_t low; /* the code */
	uint64_t high;
	uint64_t calls; /* address to which the offsets of inlined calls are relative */
	/* Index of the offset of inlined calls in a function's data; 0: unknown. */
	uint32_t calls_index;
};

static uint64_t go_read_number(const struct go_table *t, size_t at, unsigned int bytes)
{
	struct cursor c = cursor_of(t->bytes, t->len, t->swap);

	if (at > t->len)
		return 0;
	c.pos = at;
	return bytes == 8   ? cursor_u64(&c)
	       : bytes == 4 ? cursor_u32(&c)
			    : cursor_u8(&c);
}

static uint64_t go_read_head(const struct go_table *t, size_t word)
{
	return go_read_number(t, HEAD_BYTES + word * t->ptr_bytes, t->ptr_bytes);
}

static unsigned int go_address_bytes(const struct go_table *t)
{
	return t->layout->offsets ? 4 : t->ptr_bytes;
}

static int go_read_magic(struct go_table *t, bool swap)
{
	struct cursor c = cursor_of(t->bytes, t->len, swap);
	uint32_t magic = cursor_u32(&c);
	uint16_t zero = cursor_u16(&c);

	t->swap = swap;
	t->quantum = cursor_u8(&c);
	t->ptr_bytes = cursor_u8(&c);
	for (size_t i = 0; i < COUNT_OF(layouts); i++)
		if (layouts[i].magic == magic)
			t->layout = &layouts[i];
	if (c.failed || !t->layout || zero ||
	    (t->ptr_bytes != 4 && t->ptr_bytes != 8) ||
	    (t->quantum != 1 && t->quantum != 2 && t->quantum != 4))
		return -EBADMSG;
	return 0;
}

/* Sets an area that begins at the offset in a word of the header. Returns false if it begins after
 * `end`. */
static bool go_take_area(const struct go_table *t, size_t word, size_t end,
			 struct go_area *ret_area)
{
	uint64_t at = go_read_head(t, word);

	*ret_area = (struct go_area){ (size_t)at, end };
	return at <= end;
}

/* Sets the areas of Go 1.2: the functions follow the header, and the offset of the files follows
 * them. Returns false if the table is too short for them. */
static bool go_take_areas_12(struct go_table *t)
{
	size_t entry = 2 * (size_t)t->ptr_bytes;
	size_t at = HEAD_BYTES + t->ptr_bytes;
	uint64_t nr = go_read_head(t, 0);

	if (t->len < at || nr > (t->len - at) / entry)
		return false;
	t->nr = (size_t)nr;
	t->functions = (struct go_area){ at, t->len };
	t->records = t->values = t->files = (struct go_area){ 0, t->len };
	t->units.at = (size_t)go_read_number(t, at + t->nr * entry + t->ptr_bytes, 4);
	t->units.end = t->len;
	t->names = (const char *)t->bytes;
	t->names_len = t->len;
	return t->units.at <= t->len;
}

static bool go_take_areas(struct go_table *t)
{
	size_t word = t->layout->names_word;
	struct go_area names;
	uint64_t nr = go_read_head(t, 0);

	if (!go_take_area(t, word, t->len, &names) ||
	    !go_take_area(t, word + 1, t->len, &t->units) ||
	    !go_take_area(t, word + 2, t->len, &t->files) ||
	    !go_take_area(t, word + 3, t->len, &t->values) ||
	    !go_take_area(t, word + 4, t->len, &t->records))
		return false;
	t->functions = t->records;
	if (nr > (t->len - t->functions.at) / 2 / go_address_bytes(t))
		return false;
	t->nr = (size_t)nr;
	if (names.at < t->units.at)
		names.end = t->units.at;
	t->names_len = names.end - names.at;
	t->names = (const char *)t->bytes + names.at;
	return true;
}

/* Returns whether the functions are sorted by address. Later steps rely on this: each byte of code
 * then belongs to one function at most. */
static bool go_is_sorted(const struct go_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (go_table_address(t, i) > go_table_address(t, i + 1))
			return false;
	return true;
}

/* Copies the names, so that a caller can keep them without the rest of the table. */
static int go_copy_names(struct go_table *t)
{
	t->own_names = malloc(t->names_len + 1);
	if (!t->own_names)
		return -ENOMEM;
	memcpy(t->own_names, t->names, t->names_len);
	t->own_names[t->names_len] = '\0';
	t->names = t->own_names;
	return 0;
}

/* Reads the header of t->bytes. In the old layout, names are between other data. */
static int go_read_table(struct go_table *t, bool swap)
{
	int r = go_read_magic(t, swap);

	if (r)
		return r;
	if (!(t->layout->names_word ? go_take_areas(t) : go_take_areas_12(t)))
		return -EBADMSG;
	if (!t->nr)
		return -ENODATA;
	return t->layout->names_word ? go_copy_names(t) : 0;
}

static void go_find_code(struct go_table *t)
{
	const struct elf_file *f = t->f;

	t->low = UINT64_MAX;
	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];
		uint64_t bytes = s->file_bytes < f->len ? s->file_bytes : f->len;

		if (s->type != PT_LOAD || !(s->flags & PF_X) ||
		    bytes > UINT64_MAX - s->vaddr)
			continue;
		t->low = s->vaddr < t->low ? s->vaddr : t->low;
		t->high = s->vaddr + bytes > t->high ? s->vaddr + bytes : t->high;
	}
}

/* Returns whether the module begins at `words`: the addresses of the table and of its names. */
static bool go_begins_module(const struct go_table *t, struct cursor words)
{
	uint64_t table = t->ptr_bytes == 8 ? cursor_u64(&words) : cursor_u32(&words);
	uint64_t names = t->ptr_bytes == 8 ? cursor_u64(&words) : cursor_u32(&words);

	return table == t->vaddr &&
	       names == t->vaddr + go_read_head(t, t->layout->names_word);
}

static uint64_t go_module_word(const struct go_table *t, struct cursor c, size_t word)
{
	if (!cursor_take(&c, word * t->ptr_bytes))
		return 0;
	return t->ptr_bytes == 8 ? cursor_u64(&c) : cursor_u32(&c);
}

/* Returns whether t->calls is right: it leads to valid inlined calls. */
static bool go_finds_calls(const struct go_table *t)
{
	size_t tried = 0;

	for (size_t i = 0; i < t->nr && tried < TRIED_CALLS; i++) {
		struct go_inlined call;
		struct go_function fn;
		struct go_runs runs;

		if (!go_table_function(t, i, &fn))
			continue;
		go_runs_begin(&runs, t, &fn, GO_INLINE);
		while (go_runs_next(&runs) && runs.value < 0)
			;
		if (runs.value < 0)
			continue;
		tried++;
		if (!go_table_inlined(t, &fn, (uint32_t)runs.value, &call))
			return false;
	}
	return tried;
}

/* Finds the inlined calls of versions that have their addresses in the table. */
static void go_find_calls(struct go_table *t)
{
	t->calls_index = FUNCDATA_INLINE;
	if (go_finds_calls(t))
		return;
	t->calls_index = FUNCDATA_INLINE_OLD;
	if (!go_finds_calls(t))
		t->calls_index = 0;
}

/* Reads the fields of the module, whose bytes are at `c`. */
static void go_take_module(struct go_table *t, struct cursor c)
{
	uint64_t text = go_module_word(t, c, MODULE_TEXT_WORD);

	if (!t->text && text >= t->low && text < t->high)
		t->text = text;
	for (size_t i = MODULE_GOFUNC_FIRST; i < MODULE_GOFUNC_END; i++) {
		t->calls = go_module_word(t, c, i);
		t->calls_index = FUNCDATA_INLINE;
		if (t->calls && go_finds_calls(t))
			return;
	}
	t->calls_index = 0;
}

/* Searches a section for the module. Returns whether it was found. */
static bool go_search_module(struct go_table *t, const struct elf_section *s)
{
	uint8_t *bytes;
	bool found = false;

	if (elf_relocated_bytes(t->f, s, DATA_MAX_BYTES, &bytes))
		return false;
	for (size_t at = 0; !found && at < s->bytes; at += t->ptr_bytes) {
		struct cursor c = cursor_of(bytes + at, (size_t)s->bytes - at, t->swap);

		found = go_begins_module(t, c);
		if (found)
			go_take_module(t, c);
	}
	free(bytes);
	return found;
}

/* Finds the linker's description of the module in a data section: newer tables do not repeat the
 * start of the code in their header. */
static void go_find_module(struct go_table *t, struct elf_file *f)
{
	static const char *const sections[] = { ".go.module", ".noptrdata",
						".data.rel.ro", ".data" };

	for (size_t i = 0; i < COUNT_OF(sections); i++) {
		const struct elf_section *s = elf_file_find_section(f, sections[i]);

		if (s && go_search_module(t, s))
			return;
	}
}

/* Finds the address to which the addresses of functions are relative. */
static void go_find_text(struct go_table *t, struct elf_file *f, bool calls)
{
	const struct elf_section *s;

	if (t->layout->offsets)
		t->text = go_read_head(t, 2);
	if (t->layout->offsets && (calls || !t->text))
		go_find_module(t, f);
	if (!t->layout->offsets || t->text)
		return;
	s = elf_file_find_section(f, ".text");
	t->text = s ? s->vaddr : t->low;
}

/* Searches a section for the table, which linkers other than Go's put between other data. Returns
 * whether it was found; *ret_section is then the rest of the section from the table on. */
static bool go_search_table(const struct elf_file *f, const struct elf_section *s,
			    struct elf_section *ret_section)
{
	struct go_table t = { .f = f };
	bool found = false;

	if (elf_file_section_bytes(f, s, GO_TABLE_MAX_BYTES, &t.bytes))
		return false;
	for (size_t at = 0; !found && at < s->bytes; at += TABLE_ALIGN) {
		struct go_table here = { .bytes = t.bytes + at,
					 .len = (size_t)s->bytes - at };

		found = !go_read_magic(&here, f->swap) &&
			here.ptr_bytes == (f->is64 ? 8 : 4);
		if (!found)
			continue;
		*ret_section = *s;
		ret_section->vaddr += at;
		ret_section->offset += at;
		ret_section->bytes -= at;
	}
	free(t.bytes);
	return found;
}

static bool go_find_section(struct elf_file *f, struct elf_section *ret_section)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	const struct elf_section *s = NULL;

	for (size_t i = 0; i < COUNT_OF(names) && !s; i++)
		s = elf_file_find_section(f, names[i]);
	if (s) {
		*ret_section = *s;
		return true;
	}
	s = elf_file_find_section(f, ".data.rel.ro");
	return s && elf_file_find_section(f, ".go.buildinfo") &&
	       go_search_table(f, s, ret_section);
}

int go_table_open(struct elf_file *f, bool calls, struct go_table **ret_table)
{
	struct elf_section s;
	struct go_table *t;
	int r;

	if (!go_find_section(f, &s))
		return -ENODATA;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->f = f;
	t->vaddr = s.vaddr;
	t->len = (size_t)s.bytes;
	r = elf_relocated_bytes(f, &s, GO_TABLE_MAX_BYTES, &t->bytes);
	if (!r)
		r = go_read_table(t, f->swap);
	if (!r) {
		go_find_code(t);
		go_find_text(t, f, calls);
		r = go_is_sorted(t) ? 0 : -EBADMSG;
		if (!r && calls && !t->layout->offsets)
			go_find_calls(t);
	}
	if (r)
		go_table_free(t);
	else
		*ret_table = t;
	return r == -EFBIG ? -EBADMSG : r;
}

int go_table_open_bytes(const void *bytes, size_t len, bool swap, uint64_t low,
			uint64_t high, struct go_table **ret_table)
{
	struct go_table *t = calloc(1, sizeof(*t));
	int r = -ENOMEM;

	if (!t)
		return r;
	t->low = low;
	t->high = high;
	t->text = low;
	t->len = len;
	t->bytes = malloc(len + 1);
	if (t->bytes) {
		memcpy(t->bytes, bytes, len);
		t->bytes[len] = 0;
		r = go_read_table(t, swap);
	}
	if (!r && !go_is_sorted(t))
		r = -EBADMSG;
	if (r)
		go_table_free(t);
	else
		*ret_table = t;
	return r;
}

void go_table_free(struct go_table *t)
{
	if (!t)
		return;
	free(t->own_names);
	free(t->bytes);
	free(t);
}

void go_table_take_names(struct go_table *t, char **ret_bytes)
{
	if (t->own_names) {
		*ret_bytes = t->own_names;
		t->own_names = NULL;
	} else {
		*ret_bytes = (char *)t->bytes;
		t->bytes = NULL;
	}
	t->names = NULL;
	t->names_len = 0;
	t->len = 0;
	t->nr = 0;
}

size_t go_table_count(const struct go_table *t)
{
	return t->nr;
}

uint64_t go_table_address(const struct go_table *t, size_t i)
{
	unsigned int each = go_address_bytes(t);
	uint64_t addr = go_read_number(t, t->functions.at + 2 * i * each, each);

	return t->layout->offsets ? t->text + addr : addr;
}

/* Returns the name at an offset, or NULL. Offsets always refer to the start of a name. */
static const char *go_name_at(const struct go_table *t, uint64_t at)
{
	if (at >= t->names_len || !t->names[at] ||
	    (t->own_names && at && t->names[at - 1]))
		return NULL;
	return t->names + at;
}

/* Reads a field of a function's record. */
static uint32_t go_read_field(const struct go_table *t, uint32_t record,
			      unsigned int at, unsigned int bytes)
{
	return (uint32_t)go_read_number(t, (size_t)record + go_address_bytes(t) + at,
					bytes);
}

bool go_table_function(const struct go_table *t, size_t i, struct go_function *ret_fn)
{
	unsigned int each = go_address_bytes(t);
	struct go_function fn = { 0 };
	uint64_t at;

	if (i >= t->nr)
		return false;
	fn.low = go_table_address(t, i);
	fn.high = go_table_address(t, i + 1);
	at = go_read_number(t, t->functions.at + (2 * i + 1) * each, each);
	if (fn.low >= fn.high || fn.low < t->low || fn.high > t->high || !at ||
	    at > t->len - t->records.at)
		return false;
	fn.record = (uint32_t)(t->records.at + at);
	fn.name = go_name_at(t, go_read_field(t, fn.record, RECORD_NAME, 4));
	fn.is_first = go_read_field(t, fn.record, t->layout->nr_funcdata_at - 2u, 1) &
		      FLAG_FIRST;
	if (t->layout->line_at)
		fn.line = go_read_field(t, fn.record, t->layout->line_at, 4);
	*ret_fn = fn;
	return fn.name;
}

/* Returns the offset of a table of values in t->values; 0: none. */
static uint32_t go_values_at(const struct go_table *t, const struct go_function *fn,
			     enum go_value value)
{
	unsigned int pcdata = (t->layout->nr_funcdata_at | 3u) + 1;

	if (value == GO_FILE)
		return go_read_field(t, fn->record, RECORD_FILES, 4);
	if (value == GO_LINE)
		return go_read_field(t, fn->record, RECORD_LINES, 4);
	if (value == GO_FRAME)
		return go_read_field(t, fn->record, RECORD_FRAME, 4);
	if (!t->layout->call_bytes ||
	    go_read_field(t, fn->record, RECORD_NR_PCDATA, 4) <= PCDATA_INLINE)
		return 0;
	return go_read_field(t, fn->record, pcdata + 4 * PCDATA_INLINE, 4);
}

void go_runs_begin(struct go_runs *runs, const struct go_table *t,
		   const struct go_function *fn, enum go_value value)
{
	uint32_t at = go_values_at(t, fn, value);

	*runs = (struct go_runs){ .table = t, .low = fn->low, .high = fn->low };
	runs->end = fn->high;
	runs->value = -1;
	if (!at || at > t->len - t->values.at)
		return;
	runs->bytes = t->bytes + t->values.at + at;
	runs->len = t->len - t->values.at - at;
}

/* Reads a number of 7 bits per byte, the lowest first. Returns false if it is cut short. */
static bool go_runs_take_number(struct go_runs *runs, uint32_t *ret_number)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < VARINT_BYTES_MAX && runs->pos < runs->len; i++) {
		uint8_t byte = runs->bytes[runs->pos++];

		number |= (uint32_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

bool go_runs_next(struct go_runs *runs)
{
	uint32_t change, bytes;
	uint64_t left = runs->end - runs->high;
	uint64_t code;

	if (!runs->bytes || !left || !go_runs_take_number(runs, &change) ||
	    (!change && runs->begun) || !go_runs_take_number(runs, &bytes) || !bytes) {
		runs->bytes = NULL;
		return false;
	}
	runs->begun = true;
	change = change & 1 ? ~(change >> 1) : change >> 1;
	runs->value = (int32_t)((uint32_t)runs->value + change);
	code = (uint64_t)bytes * runs->table->quantum;
	runs->low = runs->high;
	runs->high += code < left ? code : left;
	return true;
}

const char *go_table_path(const struct go_table *t, const struct go_function *fn,
			  int32_t file)
{
	uint64_t at = (uint64_t)(uint32_t)file;
	uint64_t path;

	if (file < 0)
		return NULL;
	if (t->layout->names_word)
		at += go_read_field(t, fn->record, RECORD_UNIT, 4);
	if (at >= (t->units.end - t->units.at) / 4)
		return NULL;
	path = go_read_number(t, t->units.at + (size_t)at * 4, 4);
	if (path >= t->files.end - t->files.at || !t->bytes[t->files.at + path])
		return NULL;
	return (const char *)t->bytes + t->files.at + path;
}

/* Returns the address of a function's inlined calls; 0: none. */
static uint64_t go_calls_at(const struct go_table *t, const struct go_function *fn)
{
	unsigned int nr_at = t->layout->nr_funcdata_at;
	uint64_t at = (uint64_t)fn->record + go_address_bytes(t) + nr_at + 1 +
		      4ULL * go_read_field(t, fn->record, RECORD_NR_PCDATA, 4);
	uint32_t offset;

	if (!t->calls_index || at > t->len ||
	    go_read_field(t, fn->record, nr_at, 1) <= t->calls_index)
		return 0;
	if (!t->layout->offsets) {
		if (t->ptr_bytes == 8 && (t->vaddr + at) & 4)
			at += 4;
		return go_read_number(t, (size_t)at + t->calls_index * t->ptr_bytes,
				      t->ptr_bytes);
	}
	offset = (uint32_t)go_read_number(t, (size_t)at + t->calls_index * 4, 4);
	return offset == UINT32_MAX ? 0 : t->calls + offset;
}

/* Copies bytes of the file at a link-time address. Returns false if the file does not contain them.
 */
static bool go_read_memory(const struct elf_file *f, uint64_t addr, void *ret_bytes,
			   size_t len)
{
	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];

		if (s->type == PT_LOAD && addr >= s->vaddr &&
		    addr - s->vaddr < s->file_bytes &&
		    len <= s->file_bytes - (addr - s->vaddr))
			return !elf_file_read(f, s->offset + (addr - s->vaddr),
					      ret_bytes, len);
	}
	return false;
}

bool go_table_inlined(const struct go_table *t, const struct go_function *fn,
		      uint32_t index, struct go_inlined *ret_call)
{
	const struct go_layout *layout = t->layout;
	uint64_t calls = t->f && layout->call_bytes ? go_calls_at(t, fn) : 0;
	uint8_t raw[32];
	uint32_t parent;
	struct cursor c = cursor_of(raw, layout->call_bytes, t->swap);

	if (!calls ||
	    !go_read_memory(t->f, calls + (uint64_t)index * layout->call_bytes, raw,
			    layout->call_bytes))
		return false;
	*ret_call = (struct go_inlined){ 0 };
	c.pos = layout->call_name_at;
	ret_call->name = go_name_at(t, cursor_u32(&c));
	c.pos = layout->call_parent_at;
	parent = cursor_u32(&c);
	if (layout->call_line_at) {
		c.pos = layout->call_line_at;
		ret_call->line = cursor_u32(&c);
	}
	if (!ret_call->name || parent >= fn->high - fn->low)
		return false;
	ret_call->parent = fn->low + parent;
	return true;
}
