/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_client.h - sends requests to oprofiled: the client's end of its socket DIR/control.
 * Layer: daemon.  A request is one line of words; the reply is lines "key value", then "ok" or
 * "error TEXT" (docs/daemon.md).  A connection handles one request at a time. */
#pragma once
#include <stddef.h>

#include "base/containers/vec.h"
#include "daemon/server/control_line.h"

struct err;

enum {
	CONTROL_REPLY_MAX =
		65536, /* maximum lines of a reply; further ones are dropped */
	CONTROL_SOON_MS =
		10000 /* after this time, warn the user that the daemon is slow */
};

struct control_client {
	int fd; /* -1: not connected */
	struct control_lines in;
	int timeout_ms; /* how long to wait for the next bytes of a reply; set by
                         * control_connect(), may be changed */
	/* Called once per request if no reply came within CONTROL_SOON_MS; NULL: no call.  Set it
	 * after control_connect(). */
	void (*on_wait)(void);
};

struct control_field {
	char *key;
	char *value;
};

struct control_reply {
	VEC(struct control_field) fields;
};

/* Returns $OPROFILE_RUN_DIR, or else /run/oprofile. */
const char *control_run_dir(void);

/* Connects to the daemon whose socket is in `run_dir` (NULL: control_run_dir()).  Returns 0;
 * -ENOENT or -ECONNREFUSED if no daemon runs there; -EACCES; or -ETIMEDOUT if it does not accept
 * the connection; errors come with a message in *err. */
int control_connect(struct control_client *c, const char *run_dir, struct err *err);
void control_disconnect(struct control_client *c);

/* Sends `words`, which end with a NULL, and reads the whole reply.  Returns 0 and stores the
 * fields in `ret_reply` (zero-initialized by the caller and freed by control_reply_done(); NULL:
 * drops them). On an error of the daemon, returns the negative errno that the error text begins
 * with (EINVAL, EACCES ...) or else -EREMOTEIO, and copies the rest of the text into *err.
 * -E2BIG: the request is too long to send; -ETIMEDOUT, -ECONNRESET, -EBADMSG: the connection
 * cannot be used any more. */
int control_request(struct control_client *c, const char *const *words,
		    struct control_reply *ret_reply, struct err *err);
/* Returns the value of a key in the reply, or NULL; it lives as long as the reply. */
const char *control_reply_get(const struct control_reply *reply, const char *key);
void control_reply_done(struct control_reply *reply);
