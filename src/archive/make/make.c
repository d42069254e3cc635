/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archive/make/collect.h"
#include "base/err.h"

int archive_make(struct archive_request *request, const char *path,
		 enum archive_form form, struct err *err)
{
	int r, incomplete;

	r = archive_out_new(path, form, &request->out, err);
	if (r)
		return r;
	incomplete = archive_collect(request, err);
	r = incomplete < 0 ? incomplete : archive_out_finish(request->out, err);
	archive_out_free(request->out);
	request->out = NULL;
	return r ? r : incomplete;
}

int archive_make_of_session(const char *dir, const char *path, struct err *err)
{
	struct report_session session = { .dir = strdup(dir),
					  .name = strdup("current") };
	struct report_sources sources = { 0 };
	struct spec spec = { 0 };
	struct archive_request request = { .sources = &sources, .spec = &spec };
	int r;

	if (!session.dir || !session.name || !vec_push(&sources.sessions, session)) {
		free(session.dir);
		free(session.name);
		return err_set(err, -ENOMEM, "out of memory");
	}
	/* Do not wait for debuginfod servers while recording. */
	request.locations.debuginfod_timeout = "0";
	r = archive_make(&request, path, ARCHIVE_FILE, err);
	report_sources_done(&sources);
	return r;
}
