/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup.c - the keys of daemonrc: which events are sampled and where samples are written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/output.h"
#include "base/parse.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/given_files.h"

enum {
	RING_PAGES =
		2048, /* 8 MB per CPU: two poll rounds and more at the default rate */
	RING_PAGES_IN_ALL = 8192, /* the rings of all CPUs share this many pages */
	RING_PAGES_MIN = 64,
	RING_PAGES_MAX = 4096,
	PAGE_BYTES = 4096,
	SAMPLE_BYTES =
		512, /* a sample without its stack, plus its share of the side band */
	SPEC_MAX = 512
};

static const char default_dir[] = "/var/lib/oprofile";

static const char *session_dir_of(const struct daemonrc *setup)
{
	const char *dir = daemonrc_get(setup, "SESSION_DIR");

	return dir && *dir ? dir : default_dir;
}

const char *oprofiled_session_dir(const struct oprofiled *d)
{
	return session_dir_of(&d->setup);
}

bool oprofiled_setup_flag(const struct oprofiled *d, const char *key)
{
	const char *value = daemonrc_get(&d->setup, key);

	return value && *value && strcmp(value, "0") != 0;
}

/* Returns how many pages the ring of a CPU has. CPU_BUF_SIZE is per CPU, BUF_SIZE for all CPUs;
 * both count samples. */
size_t oprofiled_ring_pages(const struct oprofiled *d, uint32_t stack_bytes)
{
	uint64_t samples = daemonrc_number(&d->setup, "CPU_BUF_SIZE", 0);
	uint64_t all = daemonrc_number(&d->setup, "BUF_SIZE", 0);
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes;
	size_t pages = RING_PAGES_MIN;

	if (nr_cpus > 0 && all / (uint64_t)nr_cpus > samples)
		samples = all / (uint64_t)nr_cpus;
	if (!samples)
		return nr_cpus > RING_PAGES_IN_ALL / RING_PAGES ? RING_PAGES / 2
								: RING_PAGES;
	bytes = samples * (stack_bytes + SAMPLE_BYTES);
	while (pages < RING_PAGES_MAX && pages * PAGE_BYTES < bytes)
		pages *= 2;
	return pages;
}

/* ---- events ---- */

/* Converts NAME:VAL:COUNTER:COUNT:UM:KERNEL:USER of the old oprofiled to
 * NAME:COUNT:UM:KERNEL:USER. */
static void modern_spec(const char *spec, char *ret_spec)
{
	const char *parts[8] = { spec };
	const char *colon = strchr(spec, ':');
	size_t nr = 1;

	snprintf(ret_spec, SPEC_MAX, "%s", spec);
	for (; colon && nr < 8; colon = strchr(colon + 1, ':'))
		parts[nr++] = colon + 1;
	if (nr == 7)
		snprintf(ret_spec, SPEC_MAX, "%.*s:%s", (int)(parts[1] - spec - 1),
			 spec, parts[3]);
}

static bool has_zero_count(const char *spec, size_t name_len)
{
	return spec[name_len] == ':' && spec[name_len + 1] == '0' &&
	       (spec[name_len + 2] == ':' || !spec[name_len + 2]);
}

/* Adds the event `spec`, the timer or the default event, at the daemon's rate instead of a
 * count. */
static int add_at_rate(const char *spec, size_t name_len, uint64_t rate_hz,
		       struct event_requests *events, struct err *err)
{
	bool is_default = strncmp(spec, "TIMER:", name_len + 1) != 0;
	bool any_count = events->ignore_count;
	size_t first = events->list.nr;
	struct event_request usual;
	char counted[EVENT_NAME_MAX + SPEC_MAX];
	int r;

	events_default(rate_hz, &usual);
	/* Insert any count, so that the parser reads the fields after it. */
	snprintf(counted, sizeof(counted), "%s:1%s", is_default ? usual.name : "TIMER",
		 spec + name_len + 2);
	events->ignore_count = true;
	r = events_parse(counted, rate_hz, events, err);
	events->ignore_count = any_count;
	for (size_t i = first; i < events->list.nr && !r; i++) {
		struct event_request *e = &events->list.at[i];

		e->count = 0;
		e->frequency_hz = rate_hz;
		e->attr.freq = 1;
		e->attr.sample_freq = rate_hz;
		if (is_default)
			e->attr.precise_ip = usual.attr.precise_ip;
	}
	return r;
}

/* Adds one event of the setup. As in OProfile, TIMER:0 samples at the daemon's rate; so does the
 * default event, if opcontrol stores it with count 0 next to other events. */
static int oprofiled_setup_add_event(const char *spec, uint64_t rate_hz,
				     struct event_requests *events, struct err *err)
{
	size_t name_len = strcspn(spec, ":");

	if (has_zero_count(spec, name_len) &&
	    (!strncmp(spec, "TIMER:", 6) || !strncmp(spec, "default:", 8)))
		return add_at_rate(spec, name_len, rate_hz, events, err);
	return events_parse(spec, rate_hz, events, err);
}

int oprofiled_setup_events(const struct oprofiled *d, const struct daemonrc *setup,
			   struct event_requests *ret_events, struct err *err)
{
	size_t nr = daemonrc_nr_events(setup);
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++) {
		const char *spec = daemonrc_event(setup, i);
		char modern[SPEC_MAX];

		if (!spec || !*spec)
			continue;
		modern_spec(spec, modern);
		r = oprofiled_setup_add_event(modern, d->rate_hz, ret_events, err);
	}
	if (!r && !ret_events->list.nr)
		r = events_parse("default", d->rate_hz, ret_events, err);
	return r;
}

int oprofiled_setup_filter(const struct daemonrc *setup,
			   struct sample_filter *ret_filter, struct err *err)
{
	return sample_filter_set(ret_filter, daemonrc_get(setup, "IMAGE_FILTER"),
				 daemonrc_get(setup, "VMLINUX"),
				 daemonrc_get(setup, "PID_FILTER"),
				 daemonrc_get(setup, "PGRP_FILTER"), err);
}

int oprofiled_check_event(const struct oprofiled *d, const char *spec, struct err *err)
{
	struct event_requests events = { 0 };
	int r = oprofiled_setup_add_event(spec, d->rate_hz, &events, err);

	events_done(&events);
	return r;
}

/* ---- setting ---- */

static int oprofiled_setup_check(const struct oprofiled *d,
				 const struct daemonrc *setup, struct err *err)
{
	static const char *const numbers[] = { "BUF_SIZE", "BUF_WATERSHED",
					       "CPU_BUF_SIZE", "NOTE_SIZE",
					       "CALLGRAPH" };
	struct event_requests events = { 0 };
	struct sample_filter filter = { 0 };
	const char *dir = daemonrc_get(setup, "SESSION_DIR");
	const char *metrics = daemonrc_get(setup, "METRICS_LISTEN");
	struct metrics_address address;
	uint64_t number;
	int r = 0;

	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const char *value = daemonrc_get(setup, numbers[i]);

		if (value && *value && !parse_u64_max(value, INT32_MAX, &number))
			return err_set(
				err, -EINVAL,
				"invalid value '%2$s' of %1$s: expected a number",
				numbers[i], value);
	}
	if (dir && *dir && *dir != '/')
		return err_set(err, -EINVAL,
			       "SESSION_DIR=%s: the path must begin with /", dir);
	if (metrics && *metrics && strcmp(metrics, "none") != 0 &&
	    metrics_address_parse(metrics, &address, err))
		return err_prefix(err, "METRICS_LISTEN");
	r = oprofiled_setup_filter(setup, &filter, err);
	sample_filter_done(&filter);
	if (!r)
		r = oprofiled_setup_events(d, setup, &events, err);
	events_done(&events);
	return r < 0 && r != -ENOMEM ? -EINVAL : r;
}

/* Checks that a setting does not change the session directory, unless `may_move`. Only root and
 * the daemon's user may change it, not the members of the group, because a daemon of root writes,
 * renames and removes files in it. Returns 0, or -EPERM with a message in *err. */
static int oprofiled_setup_check_dir(const struct daemonrc *asked, const char *key,
				     const char *value, bool may_move, struct err *err)
{
	const char *dir = session_dir_of(asked);

	if (may_move || strcmp(key, "SESSION_DIR") != 0 || !strcmp(value, dir))
		return 0;
	return err_set(
		err, -EPERM,
		"SESSION_DIR=%s: only root and the daemon's own user may change it (it is %s)",
		value, dir);
}

/* Applies one KEY=VALUE setting to `asked`. Returns 0, or -EINVAL or -EPERM with a message in
 * *err. */
static int set_word(struct daemonrc *asked, const char *word, bool may_move,
		    struct err *err)
{
	const char *value = strchr(word, '=');
	char key[64];
	int r;

	if (!value || value == word || (size_t)(value - word) >= sizeof(key))
		return err_set(err, -EINVAL, "\"%.64s\" is not KEY=VALUE", word);
	snprintf(key, sizeof(key), "%.*s", (int)(value - word), word);
	r = oprofiled_setup_check_dir(asked, key, value + 1, may_move, err);
	if (r)
		return r;
	r = daemonrc_set(asked, key, value + 1);
	return r ? err_sys(err, r, "%.64s", word) : 0;
}

/* Copies `setup` to `ret_copy`, which must be zero-initialized. Returns 0 or -ENOMEM with a
 * message in *err. */
static int copy_setup(const struct daemonrc *setup, struct daemonrc *ret_copy,
		      struct err *err)
{
	struct buf text = { 0 };
	int r;

	daemonrc_write(setup, &text);
	r = text.failed ? -ENOMEM
			: daemonrc_parse(ret_copy, "setup", text.data, text.len, err);
	buf_done(&text);
	return r ? err_set(err, r, "out of memory") : 0;
}

int oprofiled_setup_take(struct oprofiled *d, struct err *err)
{
	struct daemonrc copy = { 0 };
	int r = copy_setup(&d->asked, &copy, err);

	if (r) {
		daemonrc_done(&copy);
		return r;
	}
	daemonrc_done(&d->setup);
	d->setup = copy;
	return 0;
}

int oprofiled_setup_changed(struct oprofiled *d, struct err *err)
{
	return d->is_started ? 0 : oprofiled_setup_take(d, err);
}

int oprofiled_setup_words(struct oprofiled *d, char *const *words, size_t nr,
			  bool may_move, struct err *err)
{
	struct daemonrc next = { 0 };
	struct daemonrc before = d->asked;
	int r = copy_setup(&d->asked, &next, err);

	for (size_t i = 0; i < nr && !r; i++)
		r = set_word(&next, words[i], may_move, err);
	if (!r)
		r = oprofiled_setup_check(d, &next, err);
	if (r) {
		daemonrc_done(&next);
		return r;
	}
	d->asked = next;
	daemonrc_done(&before);
	return oprofiled_setup_changed(d, err);
}

/* Stores an option of the command line in `asked`, if the user gave it (`value` is not NULL). */
static int set_given(struct oprofiled *d, const char *key, const char *value)
{
	return value ? daemonrc_set(&d->asked, key, value) : 0;
}

static int set_events(struct oprofiled *d)
{
	const struct word_list *list = &d->options.events;
	int r = 0;

	for (size_t i = 0; i < list->values.nr && !r; i++) {
		const char *specs = list->values.at[i];

		while (*specs && !r) {
			size_t len = events_first_spec(specs);
			char spec[SPEC_MAX];

			snprintf(spec, sizeof(spec), "%.*s",
				 (int)(len < SPEC_MAX ? len : SPEC_MAX - 1), specs);
			r = daemonrc_add_event(&d->asked, spec);
			specs += len + (specs[len] == ',');
		}
	}
	return r;
}

/* Stores the message for a session directory that cannot be used, and returns `r`. The daemon does
 * not create a missing directory, because a mistyped name would then collect months of samples. */
static int session_dir_failed(const char *dir, int r, struct err *err)
{
	struct stat st;

	/* access() fails for a dangling symbolic link, but the link exists. */
	if (r != -ENOENT || !dir[0] || !lstat(dir, &st))
		return err_sys(err, r, "--session-dir: %s", dir);
	return err_set(err, r,
		       "--session-dir: %s does not exist; "
		       "to keep samples there, make it first: "
		       "mkdir -p '%s'",
		       dir, dir);
}

static int oprofiled_setup_set_images(struct oprofiled *d, struct err *err)
{
	struct buf list = { 0 };
	int r;

	if (!d->options.image)
		return 0;
	r = given_images_add(d->options.image, &list, err);
	buf_put_u8(&list, 0);
	if (!r)
		r = list.failed ? -ENOMEM
				: daemonrc_set(&d->asked, "IMAGE_FILTER",
					       (const char *)list.data);
	buf_done(&list);
	return r;
}

static int set_vmlinux(struct oprofiled *d, struct err *err)
{
	const char *file = d->options.no_vmlinux ? "none" : d->options.vmlinux;
	char *full;
	int r;

	if (!file || !strcmp(file, "none"))
		return set_given(d, "VMLINUX", file);
	r = given_vmlinux(file, &full, err);
	if (r)
		return r;
	r = daemonrc_set(&d->asked, "VMLINUX", full);
	free(full);
	return r;
}

int oprofiled_setup_options(struct oprofiled *d, struct err *err)
{
	const struct oprofiled_options *o = &d->options;
	char *dir = NULL;
	int r = 0;

	if (o->session_dir) {
		r = output_open_dir(o->session_dir, err);
		if (r == -EPERM)
			return r;
		if (r >= 0)
			close(r);
		*err = (struct err){ 0 };
		dir = realpath(o->session_dir, NULL);
		if (!dir)
			return session_dir_failed(o->session_dir, -errno, err);
		r = daemonrc_set(&d->asked, "SESSION_DIR", dir);
		free(dir);
	}
	if (!r)
		r = set_events(d);
	if (!r)
		r = set_given(d, "SEPARATE_LIB", o->separate_lib);
	if (!r)
		r = set_given(d, "SEPARATE_KERNEL", o->separate_kernel);
	if (!r)
		r = set_given(d, "SEPARATE_THREAD", o->separate_thread);
	if (!r)
		r = set_given(d, "SEPARATE_CPU", o->separate_cpu);
	if (!r)
		r = oprofiled_setup_set_images(d, err);
	if (!r)
		r = set_given(d, "KERNEL_RANGE", o->kernel_range);
	if (!r)
		r = set_given(d, "METRICS_LISTEN", o->metrics_listen);
	if (!r)
		r = set_vmlinux(d, err);
	if (!r)
		r = set_given(d, "CALLGRAPH",
			      o->callgraph && !strcmp(o->callgraph, "none") ? "0"
									    : NULL);
	if (r)
		return err->text[0] ? r : err_sys(err, r, "cannot store the options");
	r = oprofiled_setup_check(d, &d->asked, err);
	return r ? r : oprofiled_setup_take(d, err);
}
