/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query.h - answers the queries of docs/view-api.md.
 * Layer: view. */
#pragma once
#include <stddef.h>

#include "view/params.h"

struct buf;
struct err;
struct view_model;

/* Appends the answer to the query `name`, such as "tree", with `nr` parameters: JSON, or for the
 * query "text" plain text.  Parameters that the query does not have are ignored.  Returns 0,
 * -ENOENT (unknown query, event or function), -EINVAL (invalid parameter) or another negative errno,
 * with a message in *err. */
int view_query(struct view_model *m, const char *name, const struct view_param *params,
	       size_t nr, struct buf *out, struct err *err);
/* Appends the data of a page that works without a server, as JSON.  Returns 0 or a negative errno
 * with a message in *err. */
int view_write_data(struct view_model *m, struct buf *out, struct err *err);
