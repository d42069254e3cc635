/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/archive/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/files/io.h"
#include "format/archive/pack_priv.h"

struct packer {
	const struct pack_ops *ops;
	void *state;
};

struct unpacker {
	const struct pack_ops *ops;
	void *state;
};

static const struct {
	const struct pack_ops *ops;
	const char *suffixes[4];
	const char *magic;
	const char *name;
} kinds[PACKING_COUNT] = {
	[PACKING_NONE] = { .ops = &pack_plain, .name = "none" },
	[PACKING_ZSTD] = { .ops = &pack_zstd,
			   .suffixes = { ".oparchive", ".zst", ".tzst" },
			   .magic = "\x28\xb5\x2f\xfd",
			   .name = "zstd" },
	[PACKING_BZIP2] = { .ops = &pack_bzip2,
			    .suffixes = { ".bz2", ".tbz2" },
			    .magic = "BZh",
			    .name = "bzip2" },
	[PACKING_GZIP] = { .ops = &pack_gzip, .magic = "\x1f\x8b\x08", .name = "gzip" },
	[PACKING_XZ] = { .ops = &pack_xz,
			 .magic = "\xfd"
				  "7zXZ",
			 .name = "xz" },
};

static bool pack_ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

enum packing packing_of_name(const char *name)
{
	for (int i = 0; i < PACKING_COUNT; i++)
		for (const char *const *end = kinds[i].suffixes; *end; end++)
			if (pack_ends_with(name, *end))
				return (enum packing)i;
	return PACKING_NONE;
}

enum packing packing_of_bytes(const void *bytes, size_t len)
{
	for (int i = 0; i < PACKING_COUNT; i++) {
		const char *magic = kinds[i].magic;

		if (magic && len >= strlen(magic) &&
		    !memcmp(bytes, magic, strlen(magic)))
			return (enum packing)i;
	}
	return PACKING_NONE;
}

const char *packing_name(enum packing packing)
{
	return kinds[packing].name;
}

bool packing_available(enum packing packing)
{
	return kinds[packing].ops->pack_new;
}

int packer_new(int fd, enum packing packing, struct packer **ret_packer)
{
	struct packer *p;
	int r;

	if (!packing_available(packing))
		return -EOPNOTSUPP;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->ops = kinds[packing].ops;
	r = p->ops->pack_new(fd, &p->state);
	if (r) {
		free(p);
		return r;
	}
	*ret_packer = p;
	return 0;
}

int packer_put(struct packer *p, const void *bytes, size_t len)
{
	return p->ops->put(p->state, bytes, len);
}

int packer_finish(struct packer *p)
{
	return p->ops->finish(p->state);
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	p->ops->pack_free(p->state);
	free(p);
}

int unpacker_new(enum packing packing, struct unpacker **ret_unpacker)
{
	struct unpacker *u;
	int r;

	if (!kinds[packing].ops->unpack_new)
		return -EOPNOTSUPP;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->ops = kinds[packing].ops;
	r = u->ops->unpack_new(&u->state);
	if (r) {
		free(u);
		return r;
	}
	*ret_unpacker = u;
	return 0;
}

int unpacker_step(struct unpacker *u, struct pack_span *in, struct pack_span *out,
		  struct err *err)
{
	return u->ops->step(u->state, in, out, err);
}

bool unpacker_is_whole(struct unpacker *u)
{
	return u->ops->is_whole(u->state);
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	u->ops->unpack_free(u->state);
	free(u);
}

/* ---- uncompressed ---- */

static int plain_new(int fd, void **ret_state)
{
	int *state = malloc(sizeof(*state));

	if (!state)
		return -ENOMEM;
	*state = fd;
	*ret_state = state;
	return 0;
}

static int plain_put(void *state, const void *bytes, size_t len)
{
	const int *fd = state;

	return io_write_all(*fd, bytes, len);
}

static int plain_finish(void *state)
{
	(void)state;
	return 0;
}

static int plain_unpack_new(void **ret_state)
{
	*ret_state = NULL;
	return 0;
}

static int plain_step(void *state, struct pack_span *in, struct pack_span *out,
		      struct err *err)
{
	size_t n = in->size - in->pos;

	(void)state;
	(void)err;
	if (n > out->size - out->pos)
		n = out->size - out->pos;
	memcpy(out->at + out->pos, in->at + in->pos, n);
	in->pos += n;
	out->pos += n;
	return 0;
}

static bool plain_is_whole(void *state)
{
	(void)state;
	return true;
}

const struct pack_ops pack_plain = {
	.pack_new = plain_new,
	.put = plain_put,
	.finish = plain_finish,
	.pack_free = free,
	.unpack_new = plain_unpack_new,
	.step = plain_step,
	.is_whole = plain_is_whole,
	.unpack_free = free,
};
