/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make.h - makes an archive: what was asked for, or of a session all there is.
 * Layer: archive. */
#pragma once
#include "archive/make/out.h"

struct archive_request;
struct err;

/* Collects into PATH; request->out is made for the time of the call.  0; 1: a recording was
 * incomplete; or a negative errno with a line, and there is no archive. */
int archive_make(struct archive_request *request, const char *path,
		 enum archive_form form, struct err *err);
/* All of the session in the folder DIR as the file PATH, without other options. */
int archive_make_of_session(const char *dir, const char *path, struct err *err);
