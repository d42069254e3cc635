/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_parts.h - the parts of a merged session: DIR/parts/LABEL, each of which is a session.
 * Layer: recordings.  docs/format.md, section 10. */
#pragma once
#include <stddef.h>

struct err;

#define SESSION_PARTS "parts"
/* In a part: the recording that it was made from, as lines "KEY VALUE". */
#define SESSION_PART_ORIGIN "origin"

/* Lists the labels, sorted; free them with session_parts_free().  There are none if `dir` is not a
 * merged session.  Returns 0, or a negative errno with a message in *err. */
int session_parts(const char *dir, char ***ret_labels, size_t *ret_nr, struct err *err);
void session_parts_free(char **labels, size_t nr);
