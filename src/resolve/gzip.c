#include "resolve/gzip.h"

#include <errno.h>
#include <limits.h>
#define ZLIB_CONST /* what it reads is const */
#include <zlib.h>

#include "base/buf.h"

enum {
	STEP = 256 << 10,
	GZIP_WINDOW = 16 + MAX_WBITS, /* with gzip's header */
	GZIP_MEMORY = 8,              /* zlib's own default */
	GZIP_LEVEL = 3 /* half the time of the default, for a tenth more bytes */
};

/* Unpacks into what room there is, and makes more.  1: a member is over. */
static int step(z_stream *z, size_t start, size_t max, struct buf *out)
{
	int status;

	if (!buf_reserve(out, STEP))
		return -ENOMEM;
	z->next_out = out->data + out->len;
	z->avail_out = STEP;
	status = inflate(z, Z_NO_FLUSH);
	out->len += STEP - z->avail_out;
	if (out->len - start > max)
		return -EFBIG;
	if (status == Z_STREAM_END)
		return 1;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	/* Z_BUF_ERROR: it wants more than there is. */
	return status == Z_OK ? 0 : -EBADMSG;
}

int gzip_unpack(const void *bytes, size_t len, size_t max, struct buf *out)
{
	z_stream z = { 0 };
	size_t start = out->len;
	int r;

	if (len > UINT_MAX)
		return -EFBIG;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	z.next_in = bytes;
	z.avail_in = (uInt)len;
	do {
		r = step(&z, start, max, out);
		if (r == 1 && z.avail_in)
			r = inflateReset(&z) == Z_OK ? 0 : -EBADMSG;
	} while (!r);
	inflateEnd(&z);
	if (r < 0)
		out->len = start;
	return r < 0 ? r : 0;
}

/* What deflate() takes at once is no more than an int can say. */
static int deflate_all(z_stream *z, const uint8_t *bytes, size_t len, struct buf *out)
{
	int status = Z_OK;

	while (status != Z_STREAM_END) {
		size_t some = len < STEP ? len : STEP;

		z->next_in = bytes;
		z->avail_in = (uInt)some;
		do {
			if (!buf_reserve(out, STEP))
				return -ENOMEM;
			z->next_out = out->data + out->len;
			z->avail_out = STEP;
			status = deflate(z, some == len ? Z_FINISH : Z_NO_FLUSH);
			out->len += STEP - z->avail_out;
		} while (status == Z_OK && !z->avail_out);
		bytes += some;
		len -= some;
	}
	return 0;
}

int gzip_pack(const void *bytes, size_t len, struct buf *out)
{
	z_stream z = { 0 };
	int r;

	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	r = deflate_all(&z, bytes, len, out);
	deflateEnd(&z);
	return r;
}
