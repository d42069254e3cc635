/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests.c - the daemon's answers to requests on its socket (docs/daemon.md). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "daemon/engine/engine.h"
#include "daemon/server/control_server.h"
#include "daemon/server/daemon_numbers.h"

/* ---- status ---- */

static void oprofiled_requests_put_setup(const struct oprofiled *d, struct buf *reply)
{
	static const struct {
		const char *key;
		const char *name;
		const char *otherwise;
	} rows[] = {
		{ "VMLINUX", "vmlinux", "none" },
		{ "IMAGE_FILTER", "image_filter", "none" },
		{ "CALLGRAPH", "callgraph", "whole" },
		{ "BUF_SIZE", "buffer_size", "0" },
		{ "BUF_WATERSHED", "buffer_watershed", "0" },
		{ "CPU_BUF_SIZE", "cpu_buffer_size", "0" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *value = daemonrc_get(&d->setup, rows[i].key);

		control_put_field(reply, rows[i].name, "%s",
				  value && *value ? value : rows[i].otherwise);
	}
}

static void put_separate(const struct oprofiled *d, struct buf *reply)
{
	static const char *const rows[][2] = { { "SEPARATE_LIB", " library" },
					       { "SEPARATE_KERNEL", " kernel" },
					       { "SEPARATE_THREAD", " thread" },
					       { "SEPARATE_CPU", " cpu" } };
	char words[64];
	size_t len = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (oprofiled_setup_flag(d, rows[i][0]))
			len += (size_t)snprintf(words + len, sizeof(words) - len, "%s",
						rows[i][1]);
	control_put_field(reply, "separate", "%s", len ? words + 1 : "none");
}

/* Returns the count that is reported for an event. For TIMER and RTC_INTERRUPTS with a separate
 * rate, this is the rate. */
static uint64_t oprofiled_requests_count_of(const struct oprofiled *d,
					    const struct event_request *e)
{
	bool own = e->timer && e->frequency_hz && e->frequency_hz != d->rate_hz;

	return own ? e->frequency_hz : e->count;
}

/* Reports the requested events even while recording: the governor changes the recording's rates,
 * so a separate rate could not be distinguished from the default one. */
static void oprofiled_requests_put_events(const struct oprofiled *d, struct buf *reply)
{
	struct event_requests asked = { 0 };
	struct err err;

	(void)oprofiled_setup_events(d, &d->setup, &asked, &err);
	for (size_t i = 0; i < asked.list.nr; i++) {
		const struct event_request *e = &asked.list.at[i];
		char key[32];

		snprintf(key, sizeof(key), "event.%zu", i);
		control_put_field(reply, key, "%s:%llu:%llu:%d:%d", e->name,
				  (unsigned long long)oprofiled_requests_count_of(d, e),
				  (unsigned long long)e->unit_mask, e->kernel, e->user);
	}
	events_done(&asked);
}

static int answer_status(struct oprofiled *d, struct buf *reply)
{
	struct daemon_numbers numbers;
	char text[128];

	control_put_field(reply, "state", "%s", d->recorder ? "running" : "paused");
	control_put_field(reply, "pid", "%d", getpid());
	control_put_field(reply, "session_dir", "%s", oprofiled_session_dir(d));
	oprofiled_requests_put_events(d, reply);
	put_separate(d, reply);
	oprofiled_requests_put_setup(d, reply);
	if (oprofiled_setup_flag(d, "PID_FILTER"))
		control_put_field(reply, "pid_filter", "%s",
				  daemonrc_get(&d->setup, "PID_FILTER"));
	if (oprofiled_setup_flag(d, "PGRP_FILTER"))
		control_put_field(reply, "pgrp_filter", "%s",
				  daemonrc_get(&d->setup, "PGRP_FILTER"));
	oprofiled_numbers(d, &numbers);
	daemon_numbers_put_status(&numbers, reply);
	governor_text(&d->governor, text, sizeof(text));
	control_put_field(reply, "governor", "%s", text);
	if (d->metrics)
		control_put_field(reply, "metrics", "%s",
				  metrics_server_name(d->metrics));
	return 0;
}

/* ---- other requests ---- */

static int answer_setup(struct oprofiled *d, const struct control_request *request,
			struct buf *reply, struct err *err)
{
	int r = oprofiled_setup_words(d, request->args, request->nr_args,
				      request->of_owner, err);

	if (!r)
		control_keys_take_setup(&d->keys);
	if (!r && d->recorder)
		control_put_field(reply, "restart", "1");
	return r;
}

static int answer_get(const struct oprofiled *d, const char *path, struct buf *reply,
		      struct err *err)
{
	char value[CONTROL_VALUE_MAX];
	int r = control_keys_get(&d->keys, path, value, err);

	if (!r)
		control_put_field(reply, "value", "%s", value);
	return r;
}

static int answer_set(struct oprofiled *d, const struct control_request *request,
		      struct err *err)
{
	int r = control_keys_set(&d->keys, request->args[0], request->args[1], err);

	return r ? r : oprofiled_setup_changed(d, err);
}

static int answer_shutdown(struct oprofiled *d, struct err *err)
{
	d->done = true;
	return oprofiled_stop(d, err);
}

int oprofiled_answer(void *ctx, const struct control_request *request,
		     struct buf *reply, struct err *err)
{
	struct oprofiled *d = ctx;

	switch (request->verb) {
	case CONTROL_STATUS:
		return answer_status(d, reply);
	case CONTROL_SETUP:
		return answer_setup(d, request, reply, err);
	case CONTROL_START:
		return oprofiled_start(d, err);
	case CONTROL_STOP:
		return oprofiled_stop(d, err);
	case CONTROL_DUMP:
		return oprofiled_dump(d, err);
	case CONTROL_RESET:
		return oprofiled_reset(d, err);
	case CONTROL_SAVE:
		return oprofiled_save(d, request->args[0], err);
	case CONTROL_SHUTDOWN:
		return answer_shutdown(d, err);
	case CONTROL_LIST:
		control_keys_list(&d->keys, reply);
		return 0;
	case CONTROL_GET:
		return answer_get(d, request->args[0], reply, err);
	case CONTROL_SET:
		return answer_set(d, request, err);
	case CONTROL_STREAM:
		return oprofiled_stream_open(d);
	case CONTROL_COOKIE:
		return oprofiled_stream_cookie(d, request->args[0], reply, err);
	case CONTROL_VERB_COUNT:
		break;
	}
	return err_set(err, -EINVAL, "unknown request");
}
