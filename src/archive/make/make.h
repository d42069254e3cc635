/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make.h - creates an archive of the files that a request selects, or of a whole session.
 * Layer: archive. */
#pragma once
#include "archive/make/out.h"

struct archive_request;
struct err;

/* Writes the files of the request into a new archive PATH; sets request->out during the call.
 * Returns 0; 1 if a recording was incomplete; or a negative errno with a message in *err. On an
 * error, there is no new archive. */
int archive_make(struct archive_request *request, const char *path,
		 enum archive_form form, struct err *err);
/* Archives the whole session in directory DIR as the file PATH, with default options. */
int archive_make_of_session(const char *dir, const char *path, struct err *err);
