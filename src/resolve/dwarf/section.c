/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/section.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "resolve/dwarf/unpack.h"
#include "resolve/elf/file.h"

enum {
	TEXT_USUAL = 256,
	/* Limit for a text; mangled names of templates can be long. */
	TEXT_MAX = 1 << 20,
	LOAD_MAX = 1 << 30
};

static size_t nr_pages(const struct dwarf_section *s)
{
	return (size_t)((s->bytes + DWARF_PAGE_BYTES - 1) / DWARF_PAGE_BYTES);
}

static size_t page_len(const struct dwarf_section *s, uint64_t page)
{
	uint64_t left = s->bytes - page * DWARF_PAGE_BYTES;
	uint64_t most = DWARF_PAGE_BYTES + DWARF_PAGE_TAIL;

	return (size_t)(left < most ? left : most);
}

static int begin_pages(struct dwarf_section *s)
{
	s->pages = calloc(nr_pages(s), sizeof(*s->pages));
	return s->pages ? 0 : -ENOMEM;
}

int dwarf_section_of_bytes(const void *bytes, size_t len,
			   struct dwarf_section *ret_section)
{
	struct dwarf_section s = { .fd = -1, .bytes = len };

	s.whole = malloc(len ? len : 1);
	if (!s.whole)
		return -ENOMEM;
	if (len)
		memcpy(s.whole, bytes, len);
	*ret_section = s;
	return 0;
}

int dwarf_section_open(const struct elf_file *f, const struct elf_section *e,
		       bool zdebug, struct dwarf_section *ret_section)
{
	struct dwarf_section s = { .fd = -1 };
	int r;

	if (e->type == SHT_NOBITS || !e->bytes)
		return -ENODATA;
	if (e->offset > f->len || e->bytes > f->len - e->offset)
		return -EBADMSG;
	if (zdebug || (e->flags & SHF_COMPRESSED)) {
		r = dwarf_unpack(f, e, zdebug, &s);
	} else if (f->fd < 0) {
		r = dwarf_section_of_bytes(f->bytes + e->offset, (size_t)e->bytes, &s);
	} else {
		s.fd = f->fd;
		s.file_off = e->offset;
		s.bytes = e->bytes;
		r = 0;
	}
	if (!r && s.fd >= 0)
		r = begin_pages(&s);
	if (r) {
		dwarf_section_close(&s);
		return r;
	}
	*ret_section = s;
	return 0;
}

void dwarf_section_forget(struct dwarf_section *s)
{
	for (size_t i = 0; s->pages && i < nr_pages(s); i++) {
		free(s->pages[i]);
		s->pages[i] = NULL;
	}
	s->nr_shared = 0;
}

void dwarf_section_close(struct dwarf_section *s)
{
	dwarf_section_forget(s);
	free(s->pages);
	free(s->whole);
	if (s->own_fd)
		close(s->fd);
	*s = (struct dwarf_section){ .fd = -1 };
}

static int dwarf_section_read_at(const struct dwarf_section *s, uint64_t off,
				 void *bytes, size_t len)
{
	ssize_t n = io_pread_full(s->fd, bytes, len, s->file_off + off);

	if (n < 0)
		return fault_unreadable_fd(s->fd, (int)n);
	return (size_t)n == len ? 0 : -EBADMSG; /* the file has become shorter */
}

int dwarf_section_load(struct dwarf_section *s)
{
	uint8_t *whole;
	int r;

	if (s->whole || !s->bytes)
		return 0;
	if (s->bytes > LOAD_MAX)
		return -EFBIG;
	whole = malloc((size_t)s->bytes);
	if (!whole)
		return -ENOMEM;
	r = dwarf_section_read_at(s, 0, whole, (size_t)s->bytes);
	if (r) {
		free(whole);
		return r;
	}
	s->whole = whole;
	return 0;
}

int dwarf_section_append(struct dwarf_section *s, struct dwarf_section *more,
			 uint64_t max_bytes)
{
	uint8_t *whole;
	int r = 0;

	if (max_bytes > LOAD_MAX)
		max_bytes = LOAD_MAX;
	if (s->bytes > max_bytes || more->bytes > max_bytes - s->bytes)
		r = -EFBIG;
	if (!r)
		r = dwarf_section_load(s);
	if (!r)
		r = dwarf_section_load(more);
	whole = r ? NULL : realloc(s->whole, (size_t)(s->bytes + more->bytes) + 1);
	if (!r && !whole)
		r = -ENOMEM;
	if (!r) {
		memcpy(whole + s->bytes, more->whole, (size_t)more->bytes);
		s->whole = whole;
		s->bytes += more->bytes;
	}
	dwarf_section_close(more);
	return r;
}

static uint8_t *read_page(const struct dwarf_section *s, uint64_t page, uint8_t *into)
{
	size_t len = page_len(s, page);
	uint8_t *bytes = into ? into : malloc(DWARF_PAGE_BYTES + DWARF_PAGE_TAIL);

	if (!bytes || dwarf_section_read_at(s, page * DWARF_PAGE_BYTES, bytes, len)) {
		if (!into)
			free(bytes);
		return NULL;
	}
	return bytes;
}

/* Returns one of the pages that only this thread uses; its slot depends on section and page. */
static uint8_t *spare_page(const struct dwarf_section *s, struct dwarf_spare *spare,
			   uint64_t page)
{
	size_t slot = (size_t)(page ^ (uintptr_t)s / sizeof(*s)) % DWARF_SPARE_PAGES;

	if (spare->pages[slot].bytes && spare->pages[slot].section == s &&
	    spare->pages[slot].page == page)
		return spare->pages[slot].bytes;
	spare->pages[slot].section = NULL;
	if (!spare->pages[slot].bytes)
		spare->pages[slot].bytes = malloc(DWARF_PAGE_BYTES + DWARF_PAGE_TAIL);
	if (!spare->pages[slot].bytes || !read_page(s, page, spare->pages[slot].bytes))
		return NULL;
	spare->pages[slot].section = s;
	spare->pages[slot].page = page;
	return spare->pages[slot].bytes;
}

static uint8_t *shared_page(struct dwarf_section *s, uint64_t page)
{
	uint8_t *bytes = read_page(s, page, NULL);
	uint8_t *other = NULL;

	if (!bytes)
		return NULL;
	if (atomic_compare_exchange_strong(&s->pages[page], &other, bytes))
		return bytes;
	free(bytes); /* another thread has already read it */
	return other;
}

const uint8_t *dwarf_section_at(struct dwarf_section *s, struct dwarf_spare *spare,
				uint64_t off, size_t *ret_len)
{
	uint64_t page = off / DWARF_PAGE_BYTES;
	size_t in_page = (size_t)(off % DWARF_PAGE_BYTES);
	uint8_t *bytes;

	if (off >= s->bytes)
		return NULL;
	if (s->whole) {
		*ret_len = (size_t)(s->bytes - off);
		return s->whole + off;
	}
	bytes = atomic_load_explicit(&s->pages[page], memory_order_acquire);
	if (!bytes) {
		if (atomic_load_explicit(&s->nr_shared, memory_order_relaxed) <
		    DWARF_PAGES_SHARED) {
			atomic_fetch_add_explicit(&s->nr_shared, 1,
						  memory_order_relaxed);
			bytes = shared_page(s, page);
		} else {
			bytes = spare_page(s, spare, page);
		}
	}
	if (!bytes)
		return NULL;
	*ret_len = page_len(s, page) - in_page;
	return bytes + in_page;
}

static bool dwarf_section_reserve(uint8_t **buf, size_t *cap, size_t need)
{
	size_t want = *cap ? *cap : 4096;
	uint8_t *grown;

	if (need <= *cap)
		return true;
	while (want < need)
		want *= 2;
	grown = realloc(*buf, want);
	if (!grown)
		return false;
	*buf = grown;
	*cap = want;
	return true;
}

static bool dwarf_section_is_shared(struct dwarf_section *s, uint64_t off)
{
	return s->whole ||
	       atomic_load_explicit(&s->nr_shared, memory_order_relaxed) <
		       DWARF_PAGES_SHARED ||
	       atomic_load_explicit(&s->pages[off / DWARF_PAGE_BYTES],
				    memory_order_relaxed);
}

/* Reads only the text at `off`, trying increasing lengths until the end of the text is included. */
static const char *dwarf_section_read_text(struct dwarf_section *s,
					   struct dwarf_spare *spare, uint64_t off)
{
	static const uint32_t lengths[] = { TEXT_USUAL, DWARF_PAGE_TAIL, TEXT_MAX };
	uint64_t left = s->bytes - off;

	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		size_t len = (size_t)(left < lengths[i] ? left : lengths[i]);

		if (!dwarf_section_reserve(&spare->long_text, &spare->long_text_cap,
					   len) ||
		    dwarf_section_read_at(s, off, spare->long_text, len))
			return NULL;
		if (memchr(spare->long_text, '\0', len))
			return (const char *)spare->long_text;
	}
	return NULL;
}

const char *dwarf_section_text(struct dwarf_section *s, struct dwarf_spare *spare,
			       uint64_t off)
{
	const uint8_t *at;
	size_t len;

	if (off >= s->bytes)
		return NULL;
	/* When no further page may be shared, read only the text and not its page: the texts of
	 * a large section are scattered. */
	if (!dwarf_section_is_shared(s, off))
		return dwarf_section_read_text(s, spare, off);
	at = dwarf_section_at(s, spare, off, &len);
	if (!at)
		return NULL;
	if (memchr(at, '\0', len))
		return (const char *)at;
	return s->whole ? NULL : dwarf_section_read_text(s, spare, off);
}

int dwarf_section_read(struct dwarf_section *s, uint64_t off, uint64_t len,
		       uint8_t **buf, size_t *cap, const uint8_t **ret_bytes)
{
	int r;

	if (off > s->bytes || len > s->bytes - off)
		return -EBADMSG;
	if (s->whole) {
		*ret_bytes = s->whole + off;
		return 0;
	}
	if (!dwarf_section_reserve(buf, cap, (size_t)len + 1))
		return -ENOMEM;
	r = dwarf_section_read_at(s, off, *buf, (size_t)len);
	if (!r)
		*ret_bytes = *buf;
	return r;
}

void dwarf_spare_done(struct dwarf_spare *spare)
{
	for (size_t i = 0; i < DWARF_SPARE_PAGES; i++)
		free(spare->pages[i].bytes);
	free(spare->long_text);
	*spare = (struct dwarf_spare){ 0 };
}
