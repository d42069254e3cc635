/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_client.h - asks oprofiled: the other end of its socket DIR/control.
 * Layer: daemon.  A request is a line of words; the reply is lines "key value" and at the end
 * "ok" or "error TEXT" (docs/daemon.md).  One request at a time on a connection. */
#pragma once
#include <stddef.h>

#include "base/containers/vec.h"
#include "daemon/server/control_line.h"

struct err;

enum {
	CONTROL_REPLY_MAX = 65536, /* lines of a reply that are kept */
	CONTROL_SOON_MS = 10000 /* a daemon that takes longer to say how it is, hangs */
};

struct control_client {
	int fd; /* -1: not connected */
	struct control_lines in;
	int timeout_ms; /* of a reply's next bytes; set by control_connect(), may be changed */
	/* Called once, when they have not come after CONTROL_SOON_MS; NULL: nobody cares.  Set after
	 * control_connect(). */
	void (*on_wait)(void);
};

struct control_field {
	char *key;
	char *value;
};

struct control_reply {
	VEC(struct control_field) fields;
};

/* $OPROFILE_RUN_DIR, else /run/oprofile. */
const char *control_run_dir(void);

/* Connects to the daemon of that folder (NULL: control_run_dir()).  0; -ENOENT or -ECONNREFUSED:
 * no daemon runs there; -EACCES; -ETIMEDOUT: it lets nobody in; all with a line. */
int control_connect(struct control_client *c, const char *run_dir, struct err *err);
void control_disconnect(struct control_client *c);

/* Sends the words up to a NULL and reads the reply to its end.  0, and `ret_reply` (starts as
 * zeros, NULL: not wanted) has its fields, which control_reply_done() frees; a negative errno
 * with what the daemon said: the one that its text begins with (EINVAL, EACCES ...), which is
 * then left off, or -EREMOTEIO; -E2BIG: the request is too long to send; -ETIMEDOUT,
 * -ECONNRESET, -EBADMSG: the connection is of no more use. */
int control_request(struct control_client *c, const char *const *words,
		    struct control_reply *ret_reply, struct err *err);
/* The value of a reply's key, NULL if there is none; lives as long as the reply. */
const char *control_reply_get(const struct control_reply *reply, const char *key);
void control_reply_done(struct control_reply *reply);
