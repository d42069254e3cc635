/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/odb_convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "format/odb/sample_file.h"

enum {
	CONVERT_FILE_MAX = 1 << 30,
	CONVERT_ABI_MAX = 1 << 16
};

static int odb_convert_read(const char *path, size_t max, struct buf *bytes,
			    struct err *err)
{
	int r = io_read_regular(path, bytes, max);

	return r ? err_sys(err, r, "cannot read '%s'", path) : 0;
}

static int odb_convert_abi(const char *path, struct odb_layout *ret_layout,
			   struct err *err)
{
	struct buf text = { 0 };
	int r = odb_convert_read(path, CONVERT_ABI_MAX, &text, err);

	if (!r && odb_abi_parse((const char *)text.data, text.len, ret_layout, err))
		r = err_prefix(err, "%s", path);
	buf_done(&text);
	return r;
}

static int odb_convert_write(const struct odb_conversion *c,
			     const struct odb_file *file, const struct odb_layout *own,
			     struct err *err)
{
	struct odb_header header = file->header;
	odb_nodes nodes = { 0 };
	struct buf out = { 0 };
	int r = 0;

	header.version = ODB_VERSION;
	for (uint32_t i = 0; !r && i < file->nr_nodes; i++)
		if (!vec_push(&nodes, odb_file_node(file, i)))
			r = -ENOMEM;
	if (!r)
		odb_file_put(own, &header, &nodes, &out);
	if (r || out.failed)
		r = err_set(err, -ENOMEM, "out of memory");
	else if ((r = io_write_file(c->to, out.data, out.len, RECORDING_FILE_MODE)))
		err_sys(err, r, "cannot write '%s'", c->to);
	vec_done(&nodes);
	buf_done(&out);
	return r;
}

int odb_convert(const struct odb_conversion *conversion, struct err *err)
{
	const struct odb_conversion *c = conversion;
	bool big_endian = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
	struct odb_layout own = odb_layout_of(
		ODB_VERSION, sizeof(long) == sizeof(uint64_t), big_endian);
	struct odb_layout given;
	struct buf bytes = { 0 };
	struct odb_file file;
	size_t len = strlen(c->from);
	int r;

	if (len > 3 && !strcmp(c->from + len - 3, ".jo")) {
		log_say(LOG_WARNING, "'%s' is code of a JIT compiler: not converted",
			c->from);
		return 0;
	}
	r = c->abi ? odb_convert_abi(c->abi, &given, err) : 0;
	if (!r)
		r = odb_convert_read(c->from, CONVERT_FILE_MAX, &bytes, err);
	if (!r &&
	    odb_file_open(bytes.data, bytes.len, c->abi ? &given : NULL, &file, err))
		r = err_prefix(err, "%s", c->from);
	if (!r && !c->force && file.header.version == ODB_VERSION &&
	    odb_layout_equals(&file.layout, &own))
		r = err_set(
			err, -EALREADY,
			"input abi is identical to native. no conversion necessary.");
	if (!r)
		r = odb_convert_write(c, &file, &own, err);
	buf_done(&bytes);
	return r;
}
