#include "resolve/eh_frame.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "resolve/elf_file.h"
#include "resolve/sort_keys.h"

enum {
	EH_FRAME_MAX_BYTES = 1 << 28,
	ID_BYTES = 4,          /* also where a length takes eight bytes more */
	AUGMENTATION_MAX = 16, /* characters; known ones have up to five */
	HDR_BYTES = 4 + 8,     /* of .eh_frame_hdr, up to the pointer to .eh_frame */
	HDR_VERSION = 1
};

/* DW_EH_PE_...: how a pointer is written (low half) and what it is relative to. */
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
	PE_APPLICATION = 0xf0, /* with the bit for "indirect", which is not for code */
	PE_OMIT = 0xff
};

/* One walk over the section. */
struct walk {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr; /* of bytes[0] */
	bool is64;
	bool swap;
	size_t cie; /* position of the CIE decoded last */
	bool cie_known;
	bool cie_good;
	uint8_t cie_encoding; /* of the FDEs' pointers */
};

static uint64_t take_value(struct cursor *c, unsigned int encoding, bool is64)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
		return is64 ? cursor_u64(c) : cursor_u32(c);
	case PE_ULEB128:
		return cursor_varint(c);
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
	default:
		c->failed = true; /* sleb128 too: cursor_svarint() is zigzag */
		return 0;
	}
}

static uint64_t narrow(uint64_t v, bool is64)
{
	return is64 ? v : (uint32_t)v;
}

/* A pointer at the cursor, whose data begins at `vaddr`. */
static uint64_t take_pointer(struct cursor *c, uint64_t vaddr, unsigned int encoding,
			     bool is64)
{
	uint64_t at = vaddr + c->pos;
	uint64_t v = take_value(c, encoding, is64);

	if ((encoding & PE_APPLICATION) == PE_PCREL)
		v += at;
	else if ((encoding & PE_APPLICATION) != PE_ABSPTR)
		c->failed = true; /* relative to what no linker uses for code */
	return narrow(v, is64);
}

static void skip_leb(struct cursor *c)
{
	while (cursor_u8(c) & 0x80)
		;
}

/* The augmentation's data, up to the letter R: the encoding of the FDEs' pointers. */
static bool take_encoding(struct cursor *c, const char *letters, bool is64,
			  uint8_t *ret_encoding)
{
	*ret_encoding = PE_ABSPTR;
	for (; *letters && !c->failed; letters++) {
		unsigned int encoding;

		switch (*letters) {
		case 'R':
			*ret_encoding = cursor_u8(c);
			return !c->failed && *ret_encoding != PE_OMIT;
		case 'L':
			cursor_u8(c);
			break;
		case 'P':
			encoding = cursor_u8(c);
			take_value(c, encoding, is64);
			break;
		default:
			break; /* S, B, G: no data */
		}
	}
	return !c->failed;
}

/* Reads the CIE whose content (behind its id) the cursor has. */
static bool decode_cie(struct walk *w, struct cursor *c)
{
	unsigned int version = cursor_u8(c);
	const char *letters = (const char *)c->data + c->pos;
	size_t nr = 0;

	while (cursor_u8(c))
		if (++nr > AUGMENTATION_MAX)
			return false;
	if (c->failed)
		return false;
	if (version == 4) {
		cursor_u8(c); /* sizes of addresses and segments */
		cursor_u8(c);
	}
	if (letters[0] == 'e' && letters[1] == 'h')
		take_value(c, PE_ABSPTR, w->is64); /* of GCC 2 */
	skip_leb(c);                               /* code alignment */
	skip_leb(c);                               /* data alignment */
	if (version == 1)
		cursor_u8(c); /* return address register */
	else
		skip_leb(c);
	if (letters[0] != 'z') {
		w->cie_encoding = PE_ABSPTR;
		return !c->failed;
	}
	skip_leb(c);
	return take_encoding(c, letters + 1, w->is64, &w->cie_encoding);
}

/* An entry (CIE or FDE): its id and the bytes behind it.  1; 0 at the terminator or where the
 * chain is broken.  *pos moves behind it. */
static int next_entry(const struct walk *w, size_t *pos, uint64_t *ret_id,
		      struct cursor *ret_content)
{
	struct cursor c = cursor_of(w->bytes, w->len, w->swap);
	uint64_t len;

	c.pos = *pos;
	len = cursor_u32(&c);
	if (len == 0xffffffff)
		len = cursor_u64(&c);
	if (c.failed || len < ID_BYTES || len > cursor_left(&c))
		return 0;
	*pos = c.pos + (size_t)len;
	c.len = *pos;
	*ret_id = cursor_u32(&c);
	*ret_content = c;
	return 1;
}

/* Makes the CIE that an FDE names the current one: it lies `distance` before the FDE's own
 * field for it. */
static bool use_cie(struct walk *w, size_t field, uint64_t distance)
{
	struct cursor content;
	uint64_t id;
	size_t pos;

	if (distance > field)
		return false;
	pos = field - (size_t)distance;
	if (w->cie_known && w->cie == pos)
		return w->cie_good;
	w->cie = pos;
	w->cie_known = true;
	w->cie_good = next_entry(w, &pos, &id, &content) && id == 0 &&
		      decode_cie(w, &content);
	return w->cie_good;
}

static bool decode_fde(struct walk *w, struct cursor *c, uint64_t distance,
		       struct eh_function *ret)
{
	if (!use_cie(w, c->pos - ID_BYTES, distance))
		return false;
	ret->start = take_pointer(c, w->vaddr, w->cie_encoding, w->is64);
	ret->bytes =
		narrow(take_value(c, w->cie_encoding & PE_FORMAT, w->is64), w->is64);
	/* Start 0: a function that the linker dropped. */
	return !c->failed && ret->start && ret->bytes &&
	       ret->bytes <= UINT64_MAX - ret->start;
}

static int sort_functions(struct eh_frame *frames)
{
	size_t nr = frames->functions.nr;
	struct eh_function *sorted;
	struct sort_key *keys;
	bool is_sorted = true;
	int r;

	for (size_t i = 1; i < nr && is_sorted; i++)
		is_sorted = frames->functions.at[i - 1].start <=
			    frames->functions.at[i].start;
	if (is_sorted)
		return 0;
	keys = malloc(nr * sizeof(*keys));
	sorted = malloc(nr * sizeof(*sorted));
	r = keys && sorted ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < nr; i++)
		keys[i] =
			(struct sort_key){ frames->functions.at[i].start, (uint32_t)i };
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; !r && i < nr; i++)
		sorted[i] = frames->functions.at[keys[i].index];
	if (!r)
		memcpy(frames->functions.at, sorted, nr * sizeof(*sorted));
	free(sorted);
	free(keys);
	return r;
}

int eh_frame_parse(const void *bytes, size_t len, uint64_t vaddr, bool is64, bool swap,
		   struct eh_frame *ret_frames)
{
	struct walk w = { bytes, len, vaddr, is64, swap, .cie_known = false };
	struct eh_frame frames = { 0 };
	struct eh_function function;
	struct cursor content;
	size_t pos = 0;
	uint64_t id;
	int r;

	for (;;) {
		if (!next_entry(&w, &pos, &id, &content))
			break;
		/* A CIE has the id 0; it is decoded when an FDE names it. */
		if (id == 0 || !decode_fde(&w, &content, id, &function))
			continue;
		if (!vec_push(&frames.functions, function)) {
			eh_frame_done(&frames);
			return -ENOMEM;
		}
	}
	r = sort_functions(&frames);
	if (r) {
		eh_frame_done(&frames);
		return r;
	}
	*ret_frames = frames;
	return 0;
}

struct place {
	uint64_t offset;
	uint64_t bytes;
	uint64_t vaddr;
};

/* Without sections: .eh_frame_hdr is a segment, and points to .eh_frame, which ends with a
 * terminator somewhere before its segment does. */
static bool find_by_segment(const struct elf_file *f, struct place *ret)
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
		vaddr = take_pointer(&c, s->vaddr, hdr[1], f->is64);
		for (size_t j = 0; !c.failed && j < f->segments.nr; j++) {
			s = &f->segments.at[j];
			if (s->type != PT_LOAD || vaddr < s->vaddr ||
			    vaddr - s->vaddr >= s->file_bytes)
				continue;
			*ret = (struct place){ s->offset + (vaddr - s->vaddr),
					       s->file_bytes - (vaddr - s->vaddr),
					       vaddr };
			return true;
		}
	}
	return false;
}

static bool find_eh_frame(struct elf_file *f, struct place *ret)
{
	const struct elf_section *s = elf_file_find_section(f, ".eh_frame");

	if (!s)
		return find_by_segment(f, ret);
	if (s->type == SHT_NOBITS)
		return false;
	*ret = (struct place){ s->offset, s->bytes, s->vaddr };
	return true;
}

int eh_frame_load(struct elf_file *f, struct eh_frame *ret_frames)
{
	struct place place;
	uint8_t *bytes;
	int r;

	*ret_frames = (struct eh_frame){ 0 };
	if (!find_eh_frame(f, &place) || place.offset > f->len)
		return 0;
	if (place.bytes > f->len - place.offset)
		place.bytes = f->len - place.offset;
	if (place.bytes > EH_FRAME_MAX_BYTES)
		return 0;
	r = elf_file_read_new(f, place.offset, place.bytes, &bytes);
	if (r)
		return r == -EBADMSG ? 0 : r;
	r = eh_frame_parse(bytes, (size_t)place.bytes, place.vaddr, f->is64, f->swap,
			   ret_frames);
	free(bytes);
	return r;
}

const struct eh_function *eh_frame_find(const struct eh_frame *frames, uint64_t vaddr)
{
	const struct eh_function *f = frames->functions.at;
	size_t low = 0;
	size_t high = frames->functions.nr; /* the answer is before this one */

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || vaddr - f[low - 1].start >= f[low - 1].bytes)
		return NULL;
	return &f[low - 1];
}

void eh_frame_done(struct eh_frame *frames)
{
	vec_done(&frames->functions);
}
