/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer.c - the parts of requests and answers that do not depend on libmicrohttpd. */
#include <string.h>

#include "present/lines/json.h"
#include "serve/serve.h"

static void answer_put_member(struct buf *out, const char *name, const char *text)
{
	buf_put(out, name, strlen(name));
	json_put_string(out, text, strlen(text));
}

void serve_answer_error(struct serve_answer *a, unsigned int status, const char *error,
			const char *fix)
{
	a->status = status;
	a->type = "application/json";
	a->fixed = NULL;
	a->is_live = false;
	buf_clear(&a->text);
	answer_put_member(&a->text, "{\"error\":", error);
	if (fix)
		answer_put_member(&a->text, ",\"fix\":", fix);
	buf_put_u8(&a->text, '}');
}

const char *serve_param_get(const struct serve_request *request, const char *name)
{
	for (size_t i = 0; i < request->params.nr; i++)
		if (!strcmp(request->params.at[i].name, name))
			return request->params.at[i].value;
	return NULL;
}
