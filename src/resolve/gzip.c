#include "resolve/gzip.h"

#include <errno.h>
#include <limits.h>
#define ZLIB_CONST /* what it reads is const */
#include <zlib.h>

#include "base/buf.h"

enum {
	STEP = 256 << 10,
	GZIP_WINDOW = 16 + MAX_WBITS /* with gzip's header */
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
