/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tar_read.c - reads tar files from untrusted sources. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "format/archive/pack.h"
#include "format/archive/tar.h"
#include "format/archive/tar_header.h"

enum {
	INPUT_BYTES = 1 << 17,
	EXTRA_MAX_BYTES = 1 << 16, /* maximum size of a pax header */
	SKIP_BYTES = 1 << 12
};

struct tar_reader {
	struct tar_source source;
	uint64_t left_of_all; /* bytes that may still be unpacked before the limit */
	struct unpacker *unpacker; /* NULL: compression not detected yet */
	struct pack_span in;       /* the part of input[] that is not consumed */
	uint64_t left;             /* content of the member that can be read */
	uint64_t skip; /* padding bytes after the content, up to the next header */
	char name[TAR_NAME_MAX + 1];
	bool has_size; /* has_size and size come from an extended header */
	uint64_t size;
	uint8_t input[INPUT_BYTES];
	char extra[EXTRA_MAX_BYTES + 1];
};

ssize_t tar_source_fd(void *ctx, void *bytes, size_t len)
{
	const int *fd = ctx;
	ssize_t n;

	do {
		n = read(*fd, bytes, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int tar_reader_new(struct tar_source source, uint64_t max_bytes,
		   struct tar_reader **ret_tar)
{
	struct tar_reader *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->source = source;
	t->left_of_all = max_bytes;
	t->in.at = t->input;
	*ret_tar = t;
	return 0;
}

void tar_reader_free(struct tar_reader *t)
{
	if (!t)
		return;
	unpacker_free(t->unpacker);
	free(t);
}

/* Reads more input if all of it was consumed. Returns 1 if there is input, 0 at the end, or a
 * negative errno. */
static int tar_read_fill(struct tar_reader *t, struct err *err)
{
	ssize_t n;

	if (t->in.pos < t->in.size)
		return 1;
	n = t->source.read(t->source.ctx, t->input, sizeof(t->input));
	if (n < 0)
		return err_sys(err, (int)n, "cannot read");
	t->in.pos = 0;
	t->in.size = (size_t)n;
	return n > 0;
}

static int tar_read_begin(struct tar_reader *t, struct err *err)
{
	int r = tar_read_fill(t, err);

	if (r < 0)
		return r;
	r = unpacker_new(packing_of_bytes(t->input, t->in.size), &t->unpacker);
	if (r == -EOPNOTSUPP)
		return err_set(err, r,
			       "packed with bzip2, which this build cannot read");
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Unpacks exactly `len` bytes. It is an error if the input ends before. */
static int tar_read_get(struct tar_reader *t, void *bytes, size_t len, struct err *err)
{
	struct pack_span out = { .at = bytes, .size = len };
	int r = t->unpacker ? 0 : tar_read_begin(t, err);

	if (r)
		return r;
	if (len > t->left_of_all)
		return err_set(err, -EFBIG,
			       "unpacks to more than the maximum size of a recording");
	t->left_of_all -= len;
	while (out.pos < out.size) {
		r = tar_read_fill(t, err);
		if (!r)
			return err_set(err, -EBADMSG, "truncated");
		if (r > 0)
			r = unpacker_step(t->unpacker, &t->in, &out, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int tar_read_skip(struct tar_reader *t, uint64_t bytes, struct err *err)
{
	char nowhere[SKIP_BYTES];

	while (bytes) {
		size_t n = bytes < sizeof(nowhere) ? (size_t)bytes : sizeof(nowhere);
		int r = tar_read_get(t, nowhere, n, err);

		if (r)
			return r;
		bytes -= n;
	}
	return 0;
}

/* Parses octal digits that end with a blank, a NUL or the end of the field. Returns false if
 * another character follows the digits. */
static bool parse_octal(const char *field, size_t len, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i = 0;

	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	*ret_value = value;
	return i == len || field[i] == ' ' || !field[i];
}

/* Parses the size of a member: octal digits or, for 8 GB or more in GNU tar, base 256 (0x80, then
 * big-endian bytes). Returns false if it is malformed. */
static bool tar_read_parse_size(const struct tar_header *h, uint64_t *ret_size)
{
	const unsigned char *field = (const unsigned char *)h->size;
	uint64_t size = 0;

	if (!(field[0] & 0x80))
		return parse_octal(h->size, sizeof(h->size), ret_size);
	if (field[0] != 0x80)
		return false; /* negative, or more than 64 bits */
	for (size_t i = 1; i < sizeof(h->size); i++) {
		if (size > (uint64_t)INT64_MAX >> 8)
			return false;
		size = size << 8 | field[i];
	}
	*ret_size = size;
	return true;
}

static bool tar_read_is_zero(const struct tar_header *h)
{
	static const struct tar_header zero;

	return !memcmp(h, &zero, sizeof(zero));
}

/* Joins PREFIX/NAME. Each of them can fill its field without a NUL. */
static void tar_read_take_name(struct tar_reader *t, const struct tar_header *h)
{
	size_t prefix = memcmp(h->magic, "ustar", 6)
				? 0
				: strnlen(h->prefix, sizeof(h->prefix));
	size_t name = strnlen(h->name, sizeof(h->name));
	char *at = t->name;

	memcpy(at, h->prefix, prefix);
	at += prefix;
	if (prefix)
		*at++ = '/';
	memcpy(at, h->name, name);
	at[name] = '\0';
}

static bool tar_read_set_name(struct tar_reader *t, const char *name, size_t len)
{
	if (!len || len > TAR_NAME_MAX || memchr(name, '\0', len))
		return false;
	memcpy(t->name, name, len);
	t->name[len] = '\0';
	return true;
}

/* Parses one "LEN KEY=VALUE\n" of a pax header; LEN counts the whole entry. Returns the next
 * entry, or NULL if this one is malformed. */
static const char *take_pair(struct tar_reader *t, const char *at, const char *end)
{
	uint64_t len = 0;
	const char *key = at, *value, *next;

	while (key < end && *key >= '0' && *key <= '9' && len <= EXTRA_MAX_BYTES)
		len = len * 10 + (uint64_t)(*key++ - '0');
	if (key == end || *key++ != ' ' || len > (uint64_t)(end - at))
		return NULL;
	next = at + len;
	if (next <= key || next[-1] != '\n')
		return NULL;
	value = memchr(key, '=', (size_t)(next - key));
	if (!value)
		return NULL;
	value++;
	if (value - key == 5 && !memcmp(key, "path=", 5))
		return tar_read_set_name(t, value, (size_t)(next - 1 - value)) ? next
									       : NULL;
	if (value - key == 5 && !memcmp(key, "size=", 5)) {
		t->has_size = true;
		t->size = 0;
		for (; value < next - 1; value++) {
			if (*value < '0' || *value > '9' || t->size > UINT64_MAX / 16)
				return NULL;
			t->size = t->size * 10 + (uint64_t)(*value - '0');
		}
	}
	return next;
}

/* Parses a member that describes the next one: the pax header 'x', or GNU's 'L'. Ignores GNU's
 * 'K', the target of a link. */
static int take_extra(struct tar_reader *t, char type, uint64_t bytes, struct err *err)
{
	const char *at = t->extra, *end;
	int r;

	if (bytes > EXTRA_MAX_BYTES)
		return err_set(err, -EBADMSG,
			       "a member header is too large: %" PRIu64 " bytes",
			       bytes);
	end = at + bytes;
	r = tar_read_get(t, t->extra, (size_t)bytes, err);
	if (!r)
		r = tar_read_skip(t, -bytes % TAR_BLOCK, err);
	if (r)
		return r;
	if (type == 'L' && !tar_read_set_name(t, t->extra, strnlen(t->extra, bytes)))
		at = NULL;
	while (type == 'x' && at && at < end)
		at = take_pair(t, at, end);
	return at ? 0 : err_set(err, -EBADMSG, "malformed header of a member");
}

static enum tar_kind tar_read_kind_of(char type)
{
	switch (type) {
	case '\0':
	case '0':
	case '7':
		return TAR_FILE;
	case '5':
		return TAR_FOLDER;
	case '1':
	case '2':
		return TAR_LINK;
	case '3':
	case '4':
	case '6':
		return TAR_DEVICE;
	default:
		return TAR_UNKNOWN;
	}
}

static int tar_read_header(struct tar_reader *t, struct tar_header *h,
			   uint64_t *ret_size, struct err *err)
{
	uint64_t sum;
	int r = tar_read_get(t, h, sizeof(*h), err);

	if (r || tar_read_is_zero(h))
		return r ? r : 1;
	if (!parse_octal(h->checksum, sizeof(h->checksum), &sum) ||
	    sum != tar_header_sum(h))
		return err_set(err, -EBADMSG, "not a tar file, or damaged");
	if (!tar_read_parse_size(h, ret_size))
		return err_set(err, -EBADMSG, "malformed header of a member");
	return 0;
}

int tar_reader_next(struct tar_reader *t, struct tar_member *ret_member,
		    struct err *err)
{
	struct tar_header h;
	uint64_t size = 0;
	int r = tar_read_skip(t, t->left, err);

	if (!r)
		r = tar_read_skip(t, t->skip, err);
	t->left = 0;
	t->skip = 0;
	t->has_size = false;
	t->name[0] = '\0';
	while (!r) {
		r = tar_read_header(t, &h, &size, err);
		if (r || !h.type || !strchr("xLKg", h.type))
			break;
		r = h.type == 'g' ? tar_read_skip(t, size + -size % TAR_BLOCK, err)
				  : take_extra(t, h.type, size, err);
	}
	if (r)
		return r;
	if (!t->name[0])
		tar_read_take_name(t, &h);
	*ret_member = (struct tar_member){ .name = t->name,
					   .kind = tar_read_kind_of(h.type) };
	if (t->has_size)
		size = t->size;
	if (ret_member->kind == TAR_FILE)
		ret_member->bytes = t->left = size;
	/* Members of unknown type have content, like files (POSIX). */
	if (ret_member->kind == TAR_FILE || ret_member->kind == TAR_UNKNOWN)
		t->skip = size - t->left + -size % TAR_BLOCK;
	return 0;
}

int tar_reader_end(struct tar_reader *t, struct err *err)
{
	static const uint8_t zeros[SKIP_BYTES];
	uint8_t bytes[SKIP_BYTES] = { 0 };
	int r;

	while ((r = tar_read_fill(t, err)) > 0) {
		struct pack_span out = { .at = bytes, .size = sizeof(bytes) };

		r = unpacker_step(t->unpacker, &t->in, &out, NULL);
		if (r == -ENOMEM)
			return err_set(err, r, "out of memory");
		if (r || memcmp(bytes, zeros, out.pos) != 0)
			return err_set(err, -EBADMSG,
				       "other data follows the end of the archive");
		if (out.pos > t->left_of_all)
			return err_set(
				err, -EFBIG,
				"unpacks to more than the maximum size of a recording");
		t->left_of_all -= out.pos;
	}
	return r;
}

ssize_t tar_reader_get(struct tar_reader *t, void *bytes, size_t len, struct err *err)
{
	int r;

	if (len > t->left)
		len = (size_t)t->left;
	r = tar_read_get(t, bytes, len, err);
	if (r)
		return r;
	t->left -= len;
	return (ssize_t)len;
}
