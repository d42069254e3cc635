/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/daemon_state.h"

#include <string.h>

#include "base/err.h"
#include "base/parse.h"
#include "daemon/server/control_client.h"

enum {
	PATIENCE_MS = 500 /* timeout of a request, during which the page waits */
};

static uint64_t daemon_number(const struct control_reply *reply, const char *key)
{
	const char *text = control_reply_get(reply, key);
	uint64_t v = 0;

	(void)(text && parse_u64(text, &v));
	return v;
}

static double daemon_share(const struct control_reply *reply, const char *key)
{
	const char *text = control_reply_get(reply, key);
	double v = 0;

	(void)(text && parse_double(text, &v));
	return v;
}

void daemon_state_read(struct daemon_state *ret_state)
{
	static const char *const words[] = { "status", NULL };
	struct control_client c = { .fd = -1 };
	struct control_reply reply = { 0 };
	struct err err = { 0 };
	const char *state;

	*ret_state = (struct daemon_state){ 0 };
	if (control_connect(&c, NULL, &err))
		return;
	c.timeout_ms = PATIENCE_MS;
	ret_state->exists = true;
	if (!control_request(&c, words, &reply, &err)) {
		state = control_reply_get(&reply, "state");
		ret_state->is_sampling = state && !strcmp(state, "running");
		ret_state->samples = daemon_number(&reply, "samples");
		ret_state->lost = daemon_number(&reply, "lost");
		ret_state->cost_percent = 100 * (daemon_share(&reply, "cost_cpu") +
						 daemon_share(&reply, "cost_kernel"));
	}
	control_reply_done(&reply);
	control_disconnect(&c);
}
