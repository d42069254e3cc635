/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/record_form.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/parse.h"
#include "format/foreign/json_walk.h"

/* ---- JSON ---- */

enum form_path {
	PATH_TARGET,
	PATH_ARGV,
	PATH_DIRECTORY,
	PATH_PID,
	PATH_EVENT,
	PATH_EVENT_NAME,
	PATH_EVENT_COUNT,
	PATH_EVENT_RATE,
	PATH_EVENT_MASK,
	PATH_EVENT_USER,
	PATH_EVENT_KERNEL,
	PATH_CALLGRAPH,
	PATH_SEPARATE,
	PATH_VMLINUX,
	PATH_NAME,
	PATH_COUNT
};

static const char *const form_paths[PATH_COUNT] = {
	[PATH_TARGET] = "target",
	[PATH_ARGV] = "argv/*",
	[PATH_DIRECTORY] = "directory",
	[PATH_PID] = "pid",
	[PATH_EVENT] = "events/*",
	[PATH_EVENT_NAME] = "events/*/name",
	[PATH_EVENT_COUNT] = "events/*/count",
	[PATH_EVENT_RATE] = "events/*/rate",
	[PATH_EVENT_MASK] = "events/*/mask",
	[PATH_EVENT_USER] = "events/*/user",
	[PATH_EVENT_KERNEL] = "events/*/kernel",
	[PATH_CALLGRAPH] = "callgraph",
	[PATH_SEPARATE] = "separate/*",
	[PATH_VMLINUX] = "vmlinux",
	[PATH_NAME] = "name",
};

/* A form that is being parsed. */
struct form_parsing {
	struct record_form *form;
	struct err *err;
};

/* Copies a text or number in place of an earlier value. An empty text sets *to to NULL; a null
 * keeps the earlier value. */
static int form_copy(char **to, const struct json_value *v, const char *path,
		     struct err *err)
{
	if (v->kind == JSON_NULL)
		return 0;
	if (v->kind != JSON_STRING && v->kind != JSON_NUMBER)
		return err_set(err, -EINVAL, "'%s' must be a text or a number", path);
	if (v->text.len && memchr(v->text.at, '\0', v->text.len))
		return err_set(err, -EINVAL, "'%s' contains a NUL", path);
	free(*to);
	*to = v->text.len ? strndup(v->text.at, v->text.len) : NULL;
	return v->text.len && !*to ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* Appends a text to `argv` or `separate`, which have at most RECORD_FORM_WORDS elements. */
static int form_add_word(struct record_form *f, bool to_argv,
			 const struct json_value *v, struct err *err)
{
	const char *path = to_argv ? "argv" : "separate";
	size_t nr = to_argv ? f->argv.nr : f->separate.nr;
	char *copy = NULL;
	bool kept = false;
	int r = form_copy(&copy, v, path, err);

	if (!r && !copy)
		copy = strdup("");
	if (!r && nr >= RECORD_FORM_WORDS)
		r = err_set(err, -E2BIG, "'%s' has more than %d elements", path,
			    RECORD_FORM_WORDS);
	if (!r && copy)
		kept = to_argv ? vec_push(&f->argv, copy)
			       : vec_push(&f->separate, copy);
	if (kept)
		return 0;
	free(copy);
	return r ? r : err_set(err, -ENOMEM, "out of memory");
}

static int form_set_target(struct record_form *f, const struct json_value *v,
			   struct err *err)
{
	static const char *const names[] = { [TARGET_PROGRAM] = "program",
					     [TARGET_PROCESS] = "process",
					     [TARGET_SYSTEM] = "system",
					     [TARGET_DAEMON] = "daemon" };

	for (size_t i = TARGET_PROGRAM; i < COUNT_OF(names); i++) {
		if (v->kind == JSON_STRING && v->text.len == strlen(names[i]) &&
		    !memcmp(v->text.at, names[i], v->text.len)) {
			f->target = (enum record_target_kind)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL,
		       "'target' must be program, process, system or daemon");
}

static int form_begin_event(struct record_form *f, const struct json_value *v,
			    struct err *err)
{
	if (v->kind == JSON_END)
		return 0;
	if (v->kind != JSON_BEGIN)
		return err_set(err, -EINVAL, "'events' must contain objects");
	if (f->events.nr >= RECORD_FORM_EVENTS)
		return err_set(err, -E2BIG, "more than %d events", RECORD_FORM_EVENTS);
	return vec_push(&f->events, (struct form_event){ 0 })
		       ? 0
		       : err_set(err, -ENOMEM, "out of memory");
}

static int form_set_event(struct form_event *e, enum form_path path,
			  const struct json_value *v, struct err *err)
{
	char **to = path == PATH_EVENT_NAME    ? &e->name
		    : path == PATH_EVENT_COUNT ? &e->count
		    : path == PATH_EVENT_RATE  ? &e->rate
					       : &e->mask;

	if (path != PATH_EVENT_USER && path != PATH_EVENT_KERNEL)
		return form_copy(to, v, form_paths[path], err);
	if (v->kind != JSON_BOOL)
		return err_set(err, -EINVAL, "'%s' must be true or false",
			       form_paths[path]);
	*(path == PATH_EVENT_USER ? &e->no_user : &e->no_kernel) =
		v->text.len && v->text.at[0] == 'f';
	return 0;
}

static int form_on_value(void *ctx, size_t at, const struct json_value *v)
{
	struct form_parsing *p = ctx;
	struct record_form *f = p->form;
	enum form_path path = (enum form_path)at;
	char **to;

	if (path == PATH_TARGET)
		return form_set_target(f, v, p->err);
	if (path == PATH_ARGV || path == PATH_SEPARATE)
		return form_add_word(f, path == PATH_ARGV, v, p->err);
	if (path == PATH_EVENT)
		return form_begin_event(f, v, p->err);
	if (path >= PATH_EVENT_NAME && path <= PATH_EVENT_KERNEL)
		return form_set_event(&f->events.at[f->events.nr - 1], path, v, p->err);
	to = path == PATH_DIRECTORY   ? &f->directory
	     : path == PATH_PID       ? &f->pid
	     : path == PATH_CALLGRAPH ? &f->callgraph
	     : path == PATH_VMLINUX   ? &f->vmlinux
				      : &f->name;
	return form_copy(to, v, form_paths[path], p->err);
}

int record_form_parse(const char *json, size_t len, struct record_form *ret_form,
		      struct err *err)
{
	const struct json_walk_paths paths = { .paths = form_paths, .nr = PATH_COUNT };
	struct form_parsing p = { .form = ret_form, .err = err };
	int r = json_walk((struct foreign_word){ json, len }, &paths, form_on_value, &p,
			  err);

	return r > 0 ? err_set(err, -EBADMSG, "the JSON ends too early") : r;
}

void record_form_done(struct record_form *f)
{
	for (size_t i = 0; i < f->argv.nr; i++)
		free(f->argv.at[i]);
	for (size_t i = 0; i < f->separate.nr; i++)
		free(f->separate.at[i]);
	for (size_t i = 0; i < f->events.nr; i++) {
		free(f->events.at[i].name);
		free(f->events.at[i].count);
		free(f->events.at[i].rate);
		free(f->events.at[i].mask);
	}
	vec_done(&f->argv);
	vec_done(&f->separate);
	vec_done(&f->events);
	free(f->directory);
	free(f->pid);
	free(f->callgraph);
	free(f->vmlinux);
	free(f->name);
}

/* ---- the command line ---- */

bool form_words_add(struct form_words *w, const char *format, ...)
{
	char *word;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&word, format, args);
	va_end(args);
	if (n < 0)
		return false;
	if (vec_push(&w->words, word))
		return true;
	free(word);
	return false;
}

bool form_words_end(struct form_words *w)
{
	return vec_push(&w->words, NULL);
}

void form_words_done(struct form_words *w)
{
	for (size_t i = 0; i < w->words.nr; i++)
		free(w->words.at[i]);
	vec_done(&w->words);
}

static bool is_plain(const char *text)
{
	return !text[strcspn(text, ",: \t\n")];
}

/* Checks one event. A comma in a name, or a comma or colon in a unit mask, would change what the
 * option --event means. */
static int form_check_event(const struct form_event *e, struct err *err)
{
	uint64_t number;

	if (!e->name)
		return err_set(err, -EINVAL, "an event has no name");
	if (e->name[strcspn(e->name, ", \t\n")] || (e->mask && !is_plain(e->mask)))
		return err_set(err, -EINVAL, "'%s': invalid name or unit mask",
			       e->name);
	if (e->count && (!parse_u64(e->count, &number) || !number))
		return err_set(err, -EINVAL, "'%s': invalid count '%s'", e->name,
			       e->count);
	if (e->rate && (!parse_u64(e->rate, &number) || !number))
		return err_set(err, -EINVAL, "'%s': invalid rate '%s'", e->name,
			       e->rate);
	/* Without a count the number would be read as the count. */
	if (e->mask && !e->count && parse_u64(e->mask, &number))
		return err_set(err, -EINVAL,
			       "'%s': a unit mask that is a number needs a count",
			       e->name);
	if (e->no_user && e->no_kernel)
		return err_set(err, -EINVAL,
			       "'%s' counts neither in user space nor in the kernel",
			       e->name);
	return 0;
}

/* Adds an event as NAME[:COUNT][:MASK][:u] or [:k]. */
static bool form_add_event(struct form_words *w, const struct form_event *e)
{
	return form_words_add(w, "--event=%s%s%s%s%s%s", e->name, e->count ? ":" : "",
			      e->count ? e->count : "", e->mask ? ":" : "",
			      e->mask ? e->mask : "",
			      e->no_kernel ? ":u"
			      : e->no_user ? ":k"
					   : "");
}

/* Adds the events, and the rate of those without a count. */
static int form_add_events(const struct record_form *f, struct form_words *w,
			   struct err *err)
{
	const char *rate = NULL;

	for (size_t i = 0; i < f->events.nr; i++) {
		const struct form_event *e = &f->events.at[i];
		int r = form_check_event(e, err);

		if (r)
			return r;
		if (!e->count && e->rate && rate && strcmp(rate, e->rate) != 0)
			return err_set(
				err, -EINVAL,
				"'%s': all events with a rate have the same one; give this one a count",
				e->name);
		if (!e->count && e->rate)
			rate = e->rate;
		if (!form_add_event(w, e))
			return err_set(err, -ENOMEM, "out of memory");
	}
	if (rate && !form_words_add(w, "--frequency=%s", rate))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int form_bad_callgraph(const struct record_form *f, struct err *err)
{
	return err_set(err, -EINVAL,
		       "'callgraph' must be none, auto, fp or dwarf, not '%s'",
		       f->callgraph);
}

/* Adds options of `oprofile record`. */
static int form_add_options(const struct record_form *f, struct form_words *w,
			    struct err *err)
{
	bool added = true;

	if (f->callgraph && strcmp(f->callgraph, "none") != 0) {
		if (!is_plain(f->callgraph))
			return form_bad_callgraph(f, err);
		added = form_words_add(w, "--callgraph=%s", f->callgraph);
	}
	for (size_t i = 0; added && i < f->separate.nr; i++) {
		const char *word = f->separate.at[i];

		/* Recordings are always separated by the other criteria. */
		if (!strcmp(word, "thread") || !strcmp(word, "cpu"))
			added = form_words_add(w, "--separate-%s", word);
	}
	if (added && f->vmlinux)
		added = form_words_add(w, "--vmlinux=%s", f->vmlinux);
	return added ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* Adds options of `oprofile control`. */
static int form_add_daemon_options(const struct record_form *f, struct form_words *w,
				   struct err *err)
{
	bool added = true;

	if (f->callgraph)
		added = form_words_add(w, "--callgraph=%s",
				       strcmp(f->callgraph, "none") ? "64" : "0");
	for (size_t i = 0; added && i < f->separate.nr; i++)
		added = form_words_add(w, "--separate=%s", f->separate.at[i]);
	if (added && f->vmlinux)
		added = form_words_add(w, "--vmlinux=%s", f->vmlinux);
	return added ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static int form_add_target(const struct record_form *f, struct form_words *w,
			   struct err *err)
{
	bool added = true;

	if (f->target == TARGET_SYSTEM)
		added = form_words_add(w, "--system-wide");
	else if (f->target == TARGET_PROCESS && !f->pid)
		return err_set(err, -EINVAL, "choose a process");
	else if (f->target == TARGET_PROCESS)
		added = form_words_add(w, "--pid=%s", f->pid);
	else if (!f->argv.nr || !*f->argv.at[0])
		return err_set(err, -EINVAL, "choose a program");
	else
		added = form_words_add(w, "--");
	for (size_t i = 0; added && f->target == TARGET_PROGRAM && i < f->argv.nr; i++)
		added = form_words_add(w, "%s", f->argv.at[i]);
	return added ? 0 : err_set(err, -ENOMEM, "out of memory");
}

int record_form_words(const struct record_form *f, const char *session_dir,
		      struct form_words *ret_words, struct err *err)
{
	struct form_words *w = ret_words;
	bool daemon = f->target == TARGET_DAEMON;
	int r;

	if (f->target == TARGET_NONE)
		return err_set(err, -EINVAL, "choose a target");
	if (!form_words_add(w, "oprofile") ||
	    !form_words_add(w, daemon ? "control" : "record") ||
	    !(daemon ? form_words_add(w, "--start")
		     : form_words_add(w, "--session-dir=%s", session_dir)))
		return err_set(err, -ENOMEM, "out of memory");
	r = form_add_events(f, w, err);
	if (!r && daemon)
		r = form_add_daemon_options(f, w, err);
	if (!r && !daemon)
		r = form_add_options(f, w, err);
	if (!r && !daemon)
		r = form_add_target(f, w, err);
	if (!r && !form_words_end(w))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}
