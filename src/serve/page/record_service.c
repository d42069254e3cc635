/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/record_service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/trust.h"
#include "base/shell_word.h"
#include "capture/events/perf_attr.h"
#include "doctor/doctor.h"
#include "present/lines/json.h"
#include "record/keep/session_dir.h"
#include "serve/page/daemon_state.h"
#include "serve/page/record_form.h"
#include "serve/page/record_lists.h"
#include "serve/page/record_settings.h"
#include "serve/serve.h"

enum {
	SETTLE_MS = 2000,
	DAEMON_MS = 20000,
	BAD_REQUEST = 400,
	FORBIDDEN = 403,
	NOT_FOUND = 404,
	CONFLICT = 409,
	UNAVAILABLE = 503
};

int record_service_init(struct record_service *s, const char *session_dir,
			struct err *err)
{
	char *cwd = getcwd(NULL, 0);

	memset(s, 0, sizeof(*s));
	s->recorder.messages_fd = -1;
	s->session_dir =
		path_full(session_dir ? session_dir : "oprofile_data", cwd ? cwd : "/");
	free(cwd);
	return s->session_dir ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void record_service_done(struct record_service *s)
{
	page_recorder_done(&s->recorder);
	free(s->shown);
	free(s->session_dir);
}

/* ---- errors ---- */

/* Returns whether an error of the recorder means that the user lacks rights. */
static bool is_lack_of_rights(const char *error)
{
	static const char *const signs[] = { "perf_event_paranoid", "CAP_", "seccomp",
					     "do not have permission",
					     "Operation not permitted" };

	for (size_t i = 0; error && i < COUNT_OF(signs); i++)
		if (strstr(error, signs[i]))
			return true;
	return false;
}

/* Returns the command that fixes the first failed check, or else the first limited one. Returns
 * NULL if no such check has a command. */
static const char *doctor_first_fix(const struct doctor *d)
{
	for (enum doctor_state state = DOCTOR_MISSING; state >= DOCTOR_LIMITED; state--)
		for (size_t i = 0; i < d->checks.nr; i++)
			if (d->checks.at[i].state == state && d->checks.at[i].fix)
				return d->checks.at[i].fix;
	return NULL;
}

/* Returns the command that lifts the limit, from the checks of `oprofile doctor`, or NULL.  The
 * caller frees it.  `error`: the recorder's message. */
static char *doctor_remedy(const struct record_service *s, const char *error)
{
	struct doctor d = { .root = "", .open_event = perf_attr_open };
	const struct doctor_check *check = NULL;
	const char *fix;
	char *copy;

	if (strstr(error, "belongs to another user"))
		return strdup("sudo oprof_start");
	if (s->system_wide) {
		doctor_events(&d);
		check = doctor_find(&d, "system-wide");
	} else {
		doctor_settings(&d);
		doctor_rights(&d);
	}
	fix = check ? check->fix : doctor_first_fix(&d);
	copy = fix ? strdup(fix) : NULL;
	doctor_done(&d);
	return copy;
}

static unsigned int service_status_of(int code)
{
	switch (-code) {
	case EINVAL:
	case E2BIG:
	case EBADMSG:
		return BAD_REQUEST;
	case EACCES:
	case EPERM:
		return FORBIDDEN;
	case ENOENT:
	case ESRCH:
		return NOT_FOUND;
	case EBUSY:
	case EEXIST:
		return CONFLICT;
	default:
		return UNAVAILABLE;
	}
}

static void service_refuse(struct serve_answer *a, const struct err *err,
			   const char *fix)
{
	serve_answer_error(a, service_status_of(err->code), err->text, fix);
}

/* ---- status ---- */

static const char *state_name(enum recorder_state state)
{
	static const char *const names[] = {
		[RECORDER_IDLE] = "idle",         [RECORDER_STARTING] = "recording",
		[RECORDER_RUNNING] = "recording", [RECORDER_FINISHED] = "finished",
		[RECORDER_FAILED] = "failed",
	};

	return names[state];
}

static double recorded_seconds(const struct page_recorder *r)
{
	uint64_t end =
		page_recorder_is_active(r) ? clock_now_ns(CLOCK_MONOTONIC) : r->end_ns;

	return r->start_ns ? (double)(end - r->start_ns) / (double)NS_PER_S : 0;
}

static void status_put(const struct record_service *s, struct json *j)
{
	const struct page_recorder *r = &s->recorder;
	bool of_daemon = s->of_daemon && s->daemon.is_sampling;
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%.1f", recorded_seconds(r));
	json_begin_object(j);
	json_member_text(j, "state", of_daemon ? "recording" : state_name(r->state));
	json_member_text(j, "daemon",
			 !s->daemon.exists       ? "none"
			 : s->daemon.is_sampling ? "running"
						 : "stopped");
	if (r->command && !s->of_daemon)
		json_member_text(j, "command", r->command);
	json_member_text(j, "session", s->session_dir);
	json_name(j, "seconds");
	json_number(j, seconds);
	json_member_u64(j, "samples", s->samples);
	json_member_u64(j, "lost", s->lost);
	if (r->state == RECORDER_FAILED && !s->of_daemon) {
		const char *error = page_recorder_error(r);
		char *fix = error && is_lack_of_rights(error) ? doctor_remedy(s, error)
							      : NULL;

		json_member_text(j, "error",
				 error ? error : "the recording did not start");
		if (fix)
			json_member_text(j, "fix", fix);
		free(fix);
	}
	json_end_object(j);
}

static void service_answer_status(struct record_service *s, struct serve_answer *a)
{
	struct json j = { .out = io_open_memory(&a->text) };

	if (!j.out) {
		serve_answer_error(a, UNAVAILABLE, "out of memory", NULL);
		return;
	}
	daemon_state_read(&s->daemon);
	status_put(s, &j);
	if (io_close_memory(j.out, &a->text))
		serve_answer_error(a, UNAVAILABLE, "out of memory", NULL);
}

/* ---- start ---- */

/* Sets the session that the page shows from now on, and makes the page open it. NULL: the current
 * session. */
static int service_show(struct record_service *s, const char *name, struct err *err)
{
	char *word = NULL;

	if (name && asprintf(&word, "session:%s", name) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	free(s->shown);
	s->shown = word;
	s->began = true;
	return 0;
}

/* Sets the text of the command for the page. */
static int recorder_describe(struct page_recorder *r, char *const *words)
{
	struct buf text = { 0 };

	for (size_t i = 0; words[i]; i++) {
		if (i)
			buf_put_u8(&text, ' ');
		shell_word_put(&text, words[i]);
	}
	buf_put_u8(&text, '\0');
	free(r->command);
	r->command = text.failed ? NULL : strdup((const char *)text.data);
	buf_done(&text);
	return r->command ? 0 : -ENOMEM;
}

static int service_start_recorder(struct record_service *s, char *const *words,
				  const char *directory, bool of_terminal,
				  struct err *err)
{
	int r = io_make_dirs(s->session_dir, RECORDING_DIR_MODE);

	if (r)
		return err_sys(err, r, "cannot create '%s'", s->session_dir);
	if (recorder_describe(&s->recorder, words))
		return err_set(err, -ENOMEM, "out of memory");
	r = page_recorder_start(&s->recorder, words, directory, of_terminal, err);
	if (!r)
		r = service_show(s, NULL, err);
	s->of_daemon = false;
	s->samples = s->lost = 0;
	return r;
}

int record_service_run(struct record_service *s, char *const *command,
		       const char *callgraph, struct err *err)
{
	struct form_words w = { 0 };
	bool added = form_words_add(&w, "oprofile") && form_words_add(&w, "record") &&
		     form_words_add(&w, "--session-dir=%s", s->session_dir) &&
		     (!callgraph || form_words_add(&w, "--callgraph%s%s",
						   *callgraph ? "=" : "", callgraph)) &&
		     form_words_add(&w, "--");
	int r = 0;

	for (; added && *command; command++)
		added = form_words_add(&w, "%s", *command);
	if (!added || !form_words_end(&w))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = service_start_recorder(s, w.words.at, NULL, true, err);
	form_words_done(&w);
	return r;
}

/* Runs `oprofile control ...`, which uses the daemon's socket with the rights of this user. */
static int service_control(char *const *words, struct err *err)
{
	struct buf output = { 0 };
	int status = page_run_self(words, DAEMON_MS, &output, err);
	size_t len = output.len;

	while (len && output.data[len - 1] == '\n')
		len--;
	if (status > 0)
		status = err_set(
			err, geteuid() ? -EACCES : -EIO, "%.*s", len ? (int)len : 20,
			len ? (const char *)output.data : "the command failed");
	buf_done(&output);
	return status;
}

/* Runs `oprofile control OPTION`. */
static int service_control_option(const char *option, const char *value,
				  struct err *err)
{
	struct form_words w = { 0 };
	int r = -ENOMEM;

	if (form_words_add(&w, "oprofile") && form_words_add(&w, "control") &&
	    (value ? form_words_add(&w, "--%s=%s", option, value)
		   : form_words_add(&w, "--%s", option)) &&
	    form_words_end(&w))
		r = service_control(w.words.at, err);
	else
		err_set(err, r, "out of memory");
	form_words_done(&w);
	return r;
}

/* Sets the error of a recorder that did not start. */
static int service_failure(const struct page_recorder *r, struct err *err)
{
	const char *error = page_recorder_error(r);

	return err_set(err, is_lack_of_rights(error) ? -EACCES : -EINVAL, "%s",
		       error ? error : "the recording did not start");
}

static int service_start(struct record_service *s, const struct record_form *form,
			 struct err *err)
{
	struct form_words w = { 0 };
	int r = record_form_words(form, s->session_dir, &w, err);

	s->system_wide = form->target == TARGET_SYSTEM;
	if (!r && form->target == TARGET_DAEMON) {
		r = service_control(w.words.at, err);
		s->of_daemon |= !r;
		if (!r)
			r = service_show(s, NULL, err);
	} else if (!r) {
		r = service_start_recorder(s, w.words.at, form->directory, false, err);
		if (!r)
			page_recorder_settle(&s->recorder, SETTLE_MS);
		if (!r && s->recorder.state == RECORDER_FAILED)
			r = service_failure(&s->recorder, err);
	}
	form_words_done(&w);
	return r;
}

static void answer_start(struct record_service *s, const struct serve_request *request,
			 struct serve_answer *a)
{
	struct record_form form = { 0 };
	struct err err = { 0 };
	int r = record_form_parse(request->body, request->body_len, &form, &err);

	if (!r && page_recorder_is_active(&s->recorder))
		r = err_set(&err, -EBUSY, "a recording is running: stop it first");
	if (!r)
		r = service_start(s, &form, &err);
	if (r == -EACCES || r == -EPERM) {
		char *fix =
			is_lack_of_rights(err.text) ? doctor_remedy(s, err.text) : NULL;

		service_refuse(a, &err,
			       fix                            ? fix
			       : form.target == TARGET_DAEMON ? "sudo opcontrol --start"
							      : NULL);
		free(fix);
	} else if (r) {
		service_refuse(a, &err, NULL);
	} else {
		service_answer_status(s, a);
	}
	record_form_done(&form);
}

/* ---- stop, flush, reset, save ---- */

static int service_stop(struct record_service *s, const char *body, size_t len,
			struct err *err)
{
	(void)body;
	(void)len;
	if (s->of_daemon)
		return service_control_option("stop", NULL, err);
	if (!page_recorder_is_active(&s->recorder))
		return err_set(err, -EBUSY, "no recording is running");
	page_recorder_stop(&s->recorder);
	return 0;
}

static int service_flush(struct record_service *s, const char *body, size_t len,
			 struct err *err)
{
	(void)body;
	(void)len;
	/* The recorder writes its samples several times a second. */
	return s->of_daemon ? service_control_option("dump", NULL, err) : 0;
}

/* Returns the path DIR/samples/NAME, or for "" DIR/samples (malloc'd), or NULL. */
static char *service_path(const struct record_service *s, const char *name)
{
	char *path;

	return asprintf(&path, "%s/samples%s%s", s->session_dir, *name ? "/" : "",
			name) < 0
		       ? NULL
		       : path;
}

/* Holds DIR/samples open, so that another user cannot replace it by a link meanwhile. Returns 0, or
 * a negative errno with a message in *err; after 0, call guard_drop_path(). */
static int service_guard(const char *samples, struct err *err)
{
	int r;
	int fd = trust_open_dir(AT_FDCWD, samples, samples, err);
	if (fd == -ENOENT)
		err_sys(err, fd, "cannot open '%s'", samples);
	r = fd;
	if (fd >= 0) {
		r = guard_add_all(samples, fd);
		if (r)
			err_sys(err, r, "cannot open '%s'", samples);
		close(fd);
	}
	return r;
}

static int service_remove(const struct record_service *s, struct err *err)
{
	char *path = service_path(s, "current");
	int r = path ? io_remove_tree(path) : -ENOMEM;

	if (r)
		err_sys(err, r, "cannot remove '%s'", path ? path : s->session_dir);
	free(path);
	return r;
}

static int service_rename(const struct record_service *s, const char *name,
			  struct err *err)
{
	char *from = service_path(s, "current");
	char *to = service_path(s, name);
	int r = from && to ? io_rename_new(from, to) : -ENOMEM;

	if (r)
		err_sys(err, r, "cannot save the session as '%s'", to ? to : name);
	free(from);
	free(to);
	return r;
}

/* Removes the session that this page recorded or, if `name` is not NULL, renames it. */
static int service_end_session(struct record_service *s, const char *name,
			       struct err *err)
{
	char *samples;
	int r;

	if (page_recorder_is_active(&s->recorder))
		return err_set(err, -EBUSY, "the recording is running: stop it first");
	if (s->recorder.state != RECORDER_FINISHED)
		return err_set(err, -EBUSY, "this page has not recorded anything");
	samples = service_path(s, "");
	r = samples ? service_guard(samples, err) : -ENOMEM;
	if (!r) {
		r = name ? service_rename(s, name, err) : service_remove(s, err);
		guard_drop_path(samples);
	}
	free(samples);
	if (r)
		return r;
	s->recorder.state = RECORDER_IDLE;
	s->removed = true;
	return name ? service_show(s, name, err) : 0;
}

static int service_reset(struct record_service *s, const char *body, size_t len,
			 struct err *err)
{
	int r;

	(void)body;
	(void)len;
	if (!s->of_daemon)
		return service_end_session(s, NULL, err);
	r = service_control_option("reset", NULL, err);
	return r ? r : service_show(s, NULL, err);
}

static int service_save(struct record_service *s, const char *body, size_t len,
			struct err *err)
{
	struct record_form form = { 0 };
	int r = record_form_parse(body, len, &form, err);

	if (!r && (!form.name || !session_dir_is_name(form.name)))
		r = err_set(
			err, -EINVAL,
			"'%s' is not a valid name: use letters, digits, '_', '-' and '.' (not first); "
			"current, previous and oprofiled.log are reserved",
			form.name ? form.name : "");
	if (!r && s->of_daemon) {
		r = service_control_option("save", form.name, err);
		if (!r)
			r = service_show(s, NULL, err);
	} else if (!r) {
		r = service_end_session(s, form.name, err);
	}
	record_form_done(&form);
	return r;
}

/* ---- requests ---- */

static const struct {
	const char *name;
	int (*act)(struct record_service *s, const char *body, size_t len,
		   struct err *err);
} actions[] = {
	{ "stop", service_stop },
	{ "flush", service_flush },
	{ "reset", service_reset },
	{ "save", service_save },
};

static bool service_act(struct record_service *s, const char *name,
			const struct serve_request *request, struct serve_answer *a)
{
	struct err err = { 0 };

	for (size_t i = 0; i < COUNT_OF(actions); i++) {
		if (strcmp(actions[i].name, name) != 0)
			continue;
		if (actions[i].act(s, request->body, request->body_len, &err))
			service_refuse(a, &err,
				       s->of_daemon && geteuid() ? "oprofile doctor"
								 : NULL);
		else
			service_answer_status(s, a);
		return true;
	}
	return false;
}

static bool service_list(const char *name, struct serve_answer *a)
{
	struct err err = { 0 };
	int r;

	if (!strcmp(name, "events"))
		r = record_events_put(&a->text, &err);
	else if (!strcmp(name, "processes"))
		r = record_processes_put(&a->text, &err);
	else if (!strcmp(name, "settings"))
		r = record_settings_load(&a->text, &err);
	else
		return false;
	if (r)
		service_refuse(a, &err, NULL);
	return true;
}

static void answer_settings(const struct serve_request *request, struct serve_answer *a)
{
	struct err err = { 0 };

	if (record_settings_save(request->body, request->body_len, &err))
		service_refuse(a, &err, NULL);
	else
		buf_put(&a->text, "{}", 2);
}

void record_service_answer(struct record_service *s, const char *name,
			   const struct serve_request *request, struct serve_answer *a)
{
	page_recorder_poll(&s->recorder);
	if (!request->is_post && !strcmp(name, "status"))
		service_answer_status(s, a);
	else if (request->is_post && !strcmp(name, "start"))
		answer_start(s, request, a);
	else if (request->is_post && !strcmp(name, "settings"))
		answer_settings(request, a);
	else if (!(request->is_post ? service_act(s, name, request, a)
				    : service_list(name, a)))
		serve_answer_error(a, NOT_FOUND, "no such request", NULL);
}
