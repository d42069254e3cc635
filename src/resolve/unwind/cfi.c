/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "resolve/dwarf/leb.h"
#include "resolve/elf/file.h"

enum {
	EH_FRAME_MAX_BYTES = 1 << 28,
	ID_BYTES = 4,          /* in .eh_frame also after a length of 12 bytes */
	AUGMENTATION_MAX = 16, /* in characters; known ones have up to five */
	/* The header of .eh_frame_hdr, with the longest pointer to .eh_frame. */
	HDR_BYTES = 4 + 8,
	HDR_VERSION = 1
};

/* DW_EH_PE_...: the format of a pointer (low four bits), and its base. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	/* Including the bit for "indirect", which is not used for code. */
	PE_APPLICATION = 0xf0,
	PE_OMIT = 0xff
};

static uint64_t cfi_take_value(struct cursor *c, unsigned int encoding, bool is64)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
		return is64 ? cursor_u64(c) : cursor_u32(c);
	case PE_ULEB128:
		return leb_u(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	case PE_SDATA2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case PE_SDATA4:
		return (uint64_t)(int32_t)cursor_u32(c);
	case PE_SLEB128:
		return (uint64_t)leb_s(c);
	default:
		c->failed = true;
		return 0;
	}
}

static uint64_t cfi_narrow(uint64_t v, bool is64)
{
	return is64 ? v : (uint32_t)v;
}

uint64_t cfi_pointer(struct cursor *c, uint64_t vaddr, unsigned int encoding, bool is64)
{
	uint64_t at = vaddr + c->pos;
	uint64_t v = cfi_take_value(c, encoding, is64);

	if ((encoding & PE_APPLICATION) == PE_PCREL)
		v += at;
	else if ((encoding & PE_APPLICATION) != PE_ABSPTR)
		c->failed = true; /* a base that no linker uses for code */
	return cfi_narrow(v, is64);
}

/* Reads the augmentation data: the encoding of the FDEs' pointers, and whether they are signal
 * frames. */
static bool take_augmentation(struct cursor *c, const char *letters, bool is64,
			      struct cfi_cie *cie)
{
	for (; *letters && !c->failed; letters++) {
		unsigned int encoding;

		switch (*letters) {
		case 'R':
			cie->encoding = cursor_u8(c);
			if (cie->encoding == PE_OMIT)
				return false;
			break;
		case 'L':
			cursor_u8(c);
			break;
		case 'P':
			encoding = cursor_u8(c);
			cfi_take_value(c, encoding, is64);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* return addresses are signed with the second key */
		case 'G': /* memory tags */
			break;
		default:
			return true; /* unknown: skip the rest by its length */
		}
	}
	return !c->failed;
}

static const char *take_letters(struct cursor *c)
{
	const char *letters = (const char *)c->data + c->pos;
	size_t nr = 0;

	while (cursor_u8(c))
		if (++nr > AUGMENTATION_MAX)
			return NULL;
	return c->failed ? NULL : letters;
}

/* Reads the CIE whose content (after its id) is at the cursor. Returns false if it is malformed or
 * of an unknown kind. */
static bool decode_cie(const struct cfi_walk *w, struct cursor *c, struct cfi_cie *cie)
{
	unsigned int version = cursor_u8(c);
	const char *letters = take_letters(c);
	bool good = true;

	*cie = (struct cfi_cie){ .encoding = PE_ABSPTR,
				 .address_bytes = w->is64 ? 8 : 4 };
	if (!letters)
		return false;
	if (version == 4) {
		cie->address_bytes = cursor_u8(c);
		cursor_u8(c); /* segment selector size */
	}
	if (letters[0] == 'e' && letters[1] == 'h')
		cfi_take_value(c, PE_ABSPTR, w->is64); /* GCC 2 */
	cie->code_align = leb_u(c);
	cie->data_align = leb_s(c);
	cie->return_register = version == 1 ? cursor_u8(c) : leb_u(c);
	if (letters[0] == 'z') {
		uint64_t len = leb_u(c);
		struct cursor data = *c;

		cie->has_data = true;
		if (!cursor_take(c, len > SIZE_MAX ? SIZE_MAX : (size_t)len))
			return false;
		data.len = c->pos;
		good = take_augmentation(&data, letters + 1, w->is64, cie);
	}
	cie->program = c->data + c->pos;
	cie->program_len = cursor_left(c);
	return good && !c->failed;
}

/* Reads the id and the content of an entry (CIE or FDE), and advances *pos to the next one.
 * Returns false at the terminator or where the chain is broken. */
static bool next_entry(const struct cfi_walk *w, size_t *pos, uint64_t *ret_id,
		       size_t *ret_field, struct cursor *ret_content)
{
	struct cursor c = cursor_of(w->bytes, w->len, w->swap);
	bool wide = false;
	uint64_t len;

	c.pos = *pos;
	len = cursor_u32(&c);
	if (len == 0xffffffff) {
		len = cursor_u64(&c);
		wide = w->debug_frame;
	}
	if (c.failed || len < ID_BYTES || len > cursor_left(&c))
		return false;
	*ret_field = c.pos;
	*pos = c.pos + (size_t)len;
	c.len = *pos;
	*ret_id = wide ? cursor_u64(&c) : cursor_u32(&c);
	if (w->debug_frame && *ret_id == (wide ? UINT64_MAX : UINT32_MAX))
		*ret_id = 0;
	/* Add 1, so that a reference to the first CIE, at offset 0, differs from the id of a
	 * CIE. */
	else if (w->debug_frame)
		++*ret_id;
	*ret_content = c;
	return true;
}

/* Selects and decodes the CIE of an FDE. In .eh_frame, `id` is its distance from the FDE's id
 * field; in .debug_frame, its offset in the section. Returns false if the CIE is missing or
 * unusable. */
static bool use_cie(struct cfi_walk *w, size_t field, uint64_t id)
{
	struct cursor content;
	size_t pos, at;

	if (w->debug_frame ? id - 1 > w->len : id > field)
		return false;
	pos = w->debug_frame ? (size_t)(id - 1) : field - (size_t)id;
	if (w->cie_known && w->cie_at == pos)
		return w->cie_good;
	w->cie_at = pos;
	w->cie_known = true;
	w->cie_good = next_entry(w, &pos, &id, &at, &content) && id == 0 &&
		      decode_cie(w, &content, &w->cie);
	return w->cie_good;
}

static bool decode_fde(struct cfi_walk *w, struct cursor *c, size_t field, uint64_t id,
		       struct cfi_fde *ret)
{
	const struct cfi_cie *cie = &w->cie;

	if (!use_cie(w, field, id))
		return false;
	if (w->debug_frame) {
		ret->start = leb_word(c, cie->address_bytes);
		ret->bytes = leb_word(c, cie->address_bytes);
	} else {
		ret->start = cfi_pointer(c, w->vaddr, cie->encoding, w->is64);
		ret->bytes = cfi_narrow(
			cfi_take_value(c, cie->encoding & PE_FORMAT, w->is64), w->is64);
	}
	if (cie->has_data) {
		uint64_t len = leb_u(c);

		cursor_take(c, len > SIZE_MAX ? SIZE_MAX : (size_t)len);
	}
	ret->program = c->data + c->pos;
	ret->program_len = cursor_left(c);
	return !c->failed && ret->bytes && ret->bytes <= UINT64_MAX - ret->start;
}

struct cfi_walk cfi_walk_of(const void *bytes, size_t len, uint64_t vaddr, bool is64,
			    bool swap, bool debug_frame)
{
	return (struct cfi_walk){ .bytes = bytes,
				  .len = len,
				  .vaddr = vaddr,
				  .is64 = is64,
				  .swap = swap,
				  .debug_frame = debug_frame };
}

bool cfi_next(struct cfi_walk *w, struct cfi_fde *ret_fde)
{
	struct cursor content;
	size_t field;
	uint64_t id;

	while (next_entry(w, &w->pos, &id, &field, &content))
		/* A CIE has the id 0; it is decoded when an FDE refers to it. */
		if (id != 0 && decode_fde(w, &content, field, id, ret_fde))
			return true;
	return false;
}

struct cfi_place {
	uint64_t offset;
	uint64_t bytes;
	uint64_t vaddr;
};

/* Finds .eh_frame without sections: .eh_frame_hdr is a segment and points to .eh_frame, which has a
 * terminator before the end of its segment. Returns false if the file has no usable .eh_frame_hdr.
 */
static bool find_by_segment(const struct elf_file *f, struct cfi_place *ret)
{
	uint8_t hdr[HDR_BYTES];
	uint64_t vaddr;

	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];
		struct cursor c = cursor_of(hdr, sizeof(hdr), f->swap);

		if (s->type != PT_GNU_EH_FRAME ||
		    elf_file_read(f, s->offset, hdr, sizeof(hdr)) ||
		    hdr[0] != HDR_VERSION)
			continue;
		c.pos = 4;
		vaddr = cfi_pointer(&c, s->vaddr, hdr[1], f->is64);
		for (size_t j = 0; !c.failed && j < f->segments.nr; j++) {
			s = &f->segments.at[j];
			if (s->type != PT_LOAD || vaddr < s->vaddr ||
			    vaddr - s->vaddr >= s->file_bytes)
				continue;
			*ret = (struct cfi_place){ s->offset + (vaddr - s->vaddr),
						   s->file_bytes - (vaddr - s->vaddr),
						   vaddr };
			return true;
		}
	}
	return false;
}

static bool find_eh_frame(struct elf_file *f, struct cfi_place *ret)
{
	const struct elf_section *s = elf_file_find_section(f, ".eh_frame");

	if (!s)
		return find_by_segment(f, ret);
	if (s->type == SHT_NOBITS)
		return false;
	*ret = (struct cfi_place){ s->offset, s->bytes, s->vaddr };
	return true;
}

int cfi_read_eh_frame(struct elf_file *f, uint8_t **ret_bytes, size_t *ret_len,
		      uint64_t *ret_vaddr)
{
	struct cfi_place place;
	int r;

	*ret_bytes = NULL;
	*ret_len = 0;
	if (!find_eh_frame(f, &place) || place.offset > f->len)
		return 0;
	if (place.bytes > f->len - place.offset)
		place.bytes = f->len - place.offset;
	if (place.bytes > EH_FRAME_MAX_BYTES)
		return 0;
	r = elf_file_read_new(f, place.offset, place.bytes, ret_bytes);
	if (r)
		return r == -EBADMSG ? 0 : r;
	*ret_len = (size_t)place.bytes;
	*ret_vaddr = place.vaddr;
	return 0;
}
