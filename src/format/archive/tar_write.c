/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tar_write.c - writes tar files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/archive/pack.h"
#include "format/archive/tar.h"
#include "format/archive/tar_header.h"

enum {
	END_BLOCKS = 2
};

static const uint64_t octal_max = 077777777777; /* eleven digits */

struct tar_writer {
	struct packer *packer;
	uint64_t left; /* bytes of the member not yet written */
	unsigned int padding;
	bool is_private; /* the following files get mode 0600 */
};

int tar_writer_new(int fd, enum packing packing, struct tar_writer **ret_tar)
{
	struct tar_writer *t = calloc(1, sizeof(*t));
	int r = t ? packer_new(fd, packing, &t->packer) : -ENOMEM;

	if (r) {
		free(t);
		return r;
	}
	*ret_tar = t;
	return 0;
}

void tar_writer_free(struct tar_writer *t)
{
	if (!t)
		return;
	packer_free(t->packer);
	free(t);
}

/* The fields of a member's header. */
struct tar_fields {
	const char *name;
	char type;
	uint64_t bytes;
	uint64_t mtime;
	const char *link; /* NULL: not a link */
};

static void tar_write_put_text(char *field, size_t size, const char *text)
{
	size_t len = strlen(text);

	memcpy(field, text, len < size ? len : size);
}

static int tar_write_put_header(struct tar_writer *t, const struct tar_fields *m)
{
	struct tar_header h = { .type = m->type, .magic = "ustar", .version = "00" };

	tar_write_put_text(h.name, sizeof(h.name), m->name);
	if (m->link)
		tar_write_put_text(h.link, sizeof(h.link), m->link);
	memcpy(h.mode,
	       m->link         ? "0000777"
	       : t->is_private ? "0000600"
			       : "0000644",
	       sizeof(h.mode));
	memcpy(h.uid, "0000000", sizeof(h.uid));
	memcpy(h.gid, "0000000", sizeof(h.gid));
	snprintf(h.size, sizeof(h.size), "%011" PRIo64,
		 m->bytes > octal_max ? 0 : m->bytes);
	snprintf(h.mtime, sizeof(h.mtime), "%011" PRIo64,
		 m->mtime > octal_max ? 0 : m->mtime);
	snprintf(h.checksum, sizeof(h.checksum), "%06o", tar_header_sum(&h));
	h.checksum[sizeof(h.checksum) - 1] = ' ';
	return packer_put(t->packer, &h, sizeof(h));
}

/* Formats "LEN KEY=VALUE\n", where LEN includes its own digits. */
static int format_pair(char *out, size_t size, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3;
	size_t len = rest + 1;

	while (rest + (size_t)snprintf(NULL, 0, "%zu", len) != len)
		len++;
	return snprintf(out, size, "%zu %s=%s\n", len, key, value);
}

static int put_padding(struct tar_writer *t, unsigned int bytes)
{
	static const char zeros[TAR_BLOCK];

	return packer_put(t->packer, zeros, bytes);
}

/* Writes an extra member with the values that do not fit into the header. */
static int put_extra(struct tar_writer *t, const struct tar_fields *m)
{
	static const char pax[] = "pax";
	char text[2 * TAR_NAME_MAX + 192], number[24];
	struct tar_fields extra = { .name = pax, .type = 'x' };
	int len = format_pair(text, sizeof(text), "path", m->name);
	int r;

	snprintf(number, sizeof(number), "%" PRIu64, m->bytes);
	if (m->link)
		len += format_pair(text + len, sizeof(text) - (size_t)len, "linkpath",
				   m->link);
	else
		len += format_pair(text + len, sizeof(text) - (size_t)len, "size",
				   number);
	extra.bytes = (uint64_t)len;
	r = tar_write_put_header(t, &extra);
	if (!r)
		r = packer_put(t->packer, text, (size_t)len);
	return r ? r : put_padding(t, -(unsigned int)len % TAR_BLOCK);
}

static bool fits_header(const struct tar_fields *m)
{
	const struct tar_header *h = NULL;

	return strlen(m->name) <= sizeof(h->name) && m->bytes <= octal_max &&
	       (!m->link || strlen(m->link) <= sizeof(h->link));
}

static int tar_write_begin(struct tar_writer *t, const struct tar_fields *m)
{
	int r = 0;

	if (!m->name[0] || strlen(m->name) > TAR_NAME_MAX)
		return -ENAMETOOLONG;
	if (!fits_header(m))
		r = put_extra(t, m);
	if (!r)
		r = tar_write_put_header(t, m);
	t->left = m->bytes;
	t->padding = (unsigned int)(-m->bytes % TAR_BLOCK);
	return r;
}

void tar_writer_private(struct tar_writer *t, bool is_private)
{
	t->is_private = is_private;
}

int tar_writer_begin(struct tar_writer *t, const char *name, uint64_t bytes,
		     uint64_t mtime)
{
	const struct tar_fields m = {
		.name = name, .type = '0', .bytes = bytes, .mtime = mtime
	};

	return tar_write_begin(t, &m);
}

int tar_writer_link(struct tar_writer *t, const char *name, const char *target)
{
	const struct tar_fields m = { .name = name, .type = '2', .link = target };

	if (!target[0] || strlen(target) > TAR_NAME_MAX)
		return -ENAMETOOLONG;
	return tar_write_begin(t, &m);
}

int tar_writer_put(struct tar_writer *t, const void *bytes, size_t len)
{
	if (len > t->left)
		return -EFBIG;
	t->left -= len;
	return packer_put(t->packer, bytes, len);
}

int tar_writer_end(struct tar_writer *t)
{
	return t->left ? -EIO : put_padding(t, t->padding);
}

int tar_writer_finish(struct tar_writer *t)
{
	int r = 0;

	for (int i = 0; !r && i < END_BLOCKS; i++)
		r = put_padding(t, TAR_BLOCK);
	return r ? r : packer_finish(t->packer);
}
