/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.h - encodes the first block of a segment (its metadata) and the totals.
 * Layer: format, private to it.  The layout is in docs/format.md, section 3. */
#pragma once
#include "base/buf.h"
#include "base/cursor.h"
#include "format/session/session.h"

void session_info_put(const struct session_info *info, struct buf *out);
/* Decodes the metadata. session_info_done() frees the strings. Returns 0, -EBADMSG or -ENOMEM. */
int session_info_get(struct cursor *in, struct session_info *ret_info);
void session_info_done(struct session_info *info);

void session_totals_put(const struct session_totals *totals, struct buf *out);
/* Decodes a TOTALS block. Returns 0 or -EBADMSG. */
int session_totals_get(struct cursor *in, struct session_totals *ret_totals);
