/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_export.c - writes the page and its data into one file. */
#include <errno.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "page_files.h"
#include "resolve/elf/gzip.h"
#include "serve/page/page.h"
#include "serve/page/page_data.h"
#include "view/query.h"

/* Appends the data of the page, compressed and encoded in base64. */
static int page_export_data(struct view_model *model, struct buf *page, struct err *err)
{
	struct buf data = { 0 }, packed = { 0 };
	struct gzip_packing *g = gzip_pack_new();
	int r = g ? view_write_data(model, &data, err) : -ENOMEM;

	if (!r && data.failed)
		r = -ENOMEM;
	if (!r)
		r = gzip_pack(g, data.data, data.len, true, &packed);
	gzip_pack_free(g);
	buf_done(&data);
	if (!r)
		base64_put(page, packed.data, packed.len);
	buf_done(&packed);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

/* Opens the recordings, and appends the whole page with its data. */
static int page_export_open(const struct page_options *options, struct buf *page,
			    bool *ret_private, struct err *err)
{
	const struct page_file *head = page_file_find("offline-head");
	const struct page_file *tail = page_file_find("offline-tail");
	const struct page_data_open open = {
		.options = options,
		.session_dir = options->session_dir,
		.sides = { options->sides[0], options->sides[1] },
	};
	struct page_data data = { 0 };
	int r;

	if (!head || !tail)
		return err_set(
			err, -EOPNOTSUPP,
			"this build has no page (Debian packages: esbuild, node-typescript)");
	r = page_data_open(&data, &open, err);
	if (r)
		return r;
	buf_put(page, head->bytes, head->size);
	r = page_export_data(data.model, page, err);
	/* Check this after writing the data: it can contain private sources. */
	*ret_private = view_model_is_private(data.model);
	buf_put(page, tail->bytes, tail->size);
	page_data_close(&data);
	return r;
}

int page_export(const struct page_options *options, FILE *out, bool *ret_private,
		uint64_t *ret_bytes, struct err *err)
{
	struct buf page = { 0 };
	int r = page_export_open(options, &page, ret_private, err);

	if (!r && page.failed)
		r = err_set(err, -ENOMEM, "out of memory");
	/* The caller checks the stream for errors. */
	if (!r)
		(void)fwrite(page.data, 1, page.len, out);
	*ret_bytes = page.len;
	buf_done(&page);
	return r;
}
