/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup.c - opcontrol's settings: converts options to keys of daemonrc. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/path.h"
#include "base/parse.h"
#include "daemon/engine/given_files.h"
#include "daemon/server/metrics_server.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"
#include "tools/control/control.h"

enum {
	LIST_MAX = 3000
};

/* The default settings, in the order of a file that opcontrol 0.9 writes. CALLGRAPH=0 is missing,
 * because it would turn off the stacks that the daemon records by default. */
static const struct {
	const char *key;
	const char *value;
} defaults[] = {
	{ "SESSION_DIR", "/var/lib/oprofile" },
	{ "NR_CHOSEN", "0" },
	{ "SEPARATE_LIB", "0" },
	{ "SEPARATE_KERNEL", "0" },
	{ "SEPARATE_THREAD", "0" },
	{ "SEPARATE_CPU", "0" },
	{ "VMLINUX", "" },
	{ "IMAGE_FILTER", "" },
	{ "CPU_BUF_SIZE", "0" },
	{ "BUF_SIZE", "0" },
	{ "BUF_WATERSHED", "0" },
	{ "KERNEL_RANGE", "" },
	{ "XENIMAGE", "none" },
	{ "XEN_RANGE", "" },
};

static const struct {
	size_t field;
	const char *option;
	const char *key;
} numbers[] = {
	{ OPTION(struct control_options, buffer_size), "--buffer-size", "BUF_SIZE" },
	{ OPTION(struct control_options, buffer_watershed), "--buffer-watershed",
	  "BUF_WATERSHED" },
	{ OPTION(struct control_options, cpu_buffer_size), "--cpu-buffer-size",
	  "CPU_BUF_SIZE" },
	{ OPTION(struct control_options, note_table_size), "--note-table-size",
	  "NOTE_SIZE" },
	{ OPTION(struct control_options, callgraph), "--callgraph", "CALLGRAPH" },
};

/* Options that are accepted but have no effect; a message reports this. */
static const struct {
	size_t field;
	const char *option;
	const char *why;
} ignored[] = {
	{ OPTION(struct control_options, xen), "--xen",
	  "a hypervisor's samples come with the guest's kernel" },
	{ OPTION(struct control_options, active_domains), "--active-domains",
	  "Xen's domains are not sampled from here" },
	{ OPTION(struct control_options, s390_buffer), "--s390hwsampbufsize",
	  "the kernel sizes that buffer itself" },
};

static const char *text_at(const struct control_options *set, size_t field)
{
	return *(const char *const *)((const char *)set + field);
}

int control_setup_defaults(struct daemonrc *rc)
{
	int r = 0;

	for (size_t i = 0; i < COUNT_OF(defaults) && !r; i++) {
		if (!daemonrc_get(rc, defaults[i].key))
			r = daemonrc_set(rc, defaults[i].key, defaults[i].value);
	}
	return r;
}

static int take_numbers(const struct control_options *set, struct daemonrc *rc,
			struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const char *text = text_at(set, numbers[i].field);
		uint64_t v;
		int r;

		if (!text)
			continue;
		if (!*text)
			return err_set(err, -EINVAL, "No value given for option %s",
				       numbers[i].option);
		if (!parse_u64_max(text, INT32_MAX, &v))
			return err_set(
				err, -EINVAL,
				"Argument for %s, %s, must be a number from 0 to %d",
				numbers[i].option, text, INT32_MAX);
		r = daemonrc_set(rc, numbers[i].key, text);
		if (r)
			return err_sys(err, r, "cannot set '%s'", numbers[i].option);
	}
	return 0;
}

static int separate_word(struct daemonrc *rc, const char *word, struct err *err)
{
	static const struct {
		const char *word;
		const char *keys[4];
	} words[] = {
		{ "none", { NULL } },
		{ "lib", { "SEPARATE_LIB" } },
		{ "library", { "SEPARATE_LIB" } },
		{ "kernel", { "SEPARATE_LIB", "SEPARATE_KERNEL" } },
		{ "thread", { "SEPARATE_THREAD" } },
		{ "cpu", { "SEPARATE_CPU" } },
		{ "all",
		  { "SEPARATE_LIB", "SEPARATE_KERNEL", "SEPARATE_THREAD",
		    "SEPARATE_CPU" } },
	};

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		int r = 0;

		if (strcmp(words[i].word, word) != 0)
			continue;
		for (size_t k = 0; k < 4 && words[i].keys[k] && !r; k++)
			r = daemonrc_set(rc, words[i].keys[k], "1");
		return r ? err_sys(err, r, "--separate") : 0;
	}
	return err_set(err, -EINVAL,
		       "invalid --separate= argument: "
		       "'%s' (valid: none, lib, library, kernel, thread, cpu, all)",
		       word);
}

static int take_separate(const struct control_options *set, struct daemonrc *rc,
			 struct err *err)
{
	static const char *const keys[] = { "SEPARATE_LIB", "SEPARATE_KERNEL",
					    "SEPARATE_THREAD", "SEPARATE_CPU" };
	int r = 0;

	if (!set->separate.values.nr)
		return 0;
	for (size_t i = 0; i < 4 && !r; i++)
		r = daemonrc_set(rc, keys[i], "0");
	for (size_t i = 0; i < set->separate.values.nr && !r; i++) {
		char *words = strdup(set->separate.values.at[i]);
		char *at = words;

		if (!words)
			return err_set(err, -ENOMEM, "out of memory");
		while (at && !r)
			r = separate_word(rc, strsep(&at, ","), err);
		free(words);
	}
	return r;
}

/* Stores the --image options, which together make one list. */
static int control_setup_take_images(const struct control_options *set,
				     struct daemonrc *rc, struct err *err)
{
	struct buf list = { 0 };
	int r = 0;

	if (!set->images.values.nr)
		return 0;
	for (size_t i = 0; i < set->images.values.nr && !r; i++) {
		const char *words = set->images.values.at[i];

		r = *words ? given_images_add(words, &list, err)
			   : err_set(err, -EINVAL, "No value given for option --image");
	}
	if (!r && list.len > LIST_MAX)
		r = err_set(err, -E2BIG, "--image: the list is too long");
	buf_put_u8(&list, 0);
	if (!r) {
		r = list.failed
			    ? -ENOMEM
			    : daemonrc_set(rc, "IMAGE_FILTER", (const char *)list.data);
		if (r)
			err_sys(err, r, "--image");
	}
	buf_done(&list);
	return r;
}

/* Stores the value of --session-pid or a similar option: the number of a process or a process
 * group. */
static int control_setup_take_number(const char *text, const char *option,
				     const char *key, struct daemonrc *rc,
				     struct err *err)
{
	uint64_t number;
	int r;

	if (!text)
		return 0;
	if (strcmp(text, "none") != 0 &&
	    (!parse_u64_max(text, INT32_MAX, &number) || !number))
		return err_set(
			err, -EINVAL,
			"Argument for %s, %s, must be the number of a process%s, or none",
			option, text, strcmp(key, "PGRP_FILTER") ? "" : " group");
	r = daemonrc_set(rc, key, text);
	return r ? err_sys(err, r, "cannot set '%s'", option) : 0;
}

/* Warns about a filter for a process that has ended, because it records no samples. */
static void warn_of_missing_process(const char *text)
{
	uint64_t pid;

	if (parse_u64(text, &pid) && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		command_warning(
			"--pid-filter: process %s does not exist, so nothing is recorded; to remove the filter: opcontrol --pid-filter=none",
			text);
}

static int take_pid(const struct control_options *set, struct daemonrc *rc,
		    struct err *err)
{
	int r = control_setup_take_number(set->pid_filter, "--pid-filter", "PID_FILTER",
					  rc, err);

	if (!r && set->pid_filter)
		warn_of_missing_process(set->pid_filter);
	return r ? r
		 : control_setup_take_number(set->pgrp_filter, "--pgrp-filter",
					     "PGRP_FILTER", rc, err);
}

static int take_metrics(const struct control_options *set, struct daemonrc *rc,
			struct err *err)
{
	const char *where = set->metrics_listen;
	struct metrics_address address;
	int r;

	if (!where)
		return 0;
	if (strcmp(where, "none") != 0 && metrics_address_parse(where, &address, err))
		return err_prefix(err, "--metrics-listen");
	r = daemonrc_set(rc, "METRICS_LISTEN", where);
	return r ? err_sys(err, r, "--metrics-listen") : 0;
}

static int control_setup_take_vmlinux(const struct control_options *set,
				      struct daemonrc *rc, struct err *err)
{
	const char *file = set->no_vmlinux ? "none" : set->vmlinux;
	char *full;
	int r;

	if (!file)
		return 0;
	if (!*file)
		return err_set(err, -EINVAL, "No value given for option --vmlinux");
	if (!strcmp(file, "none")) {
		r = daemonrc_set(rc, "VMLINUX", "none");
		return r ? err_sys(err, r, "--vmlinux") : 0;
	}
	r = given_vmlinux(file, &full, err);
	if (r)
		return r;
	r = daemonrc_set(rc, "VMLINUX", full);
	free(full);
	return r ? err_sys(err, r, "--vmlinux=%s", file) : 0;
}

/* Parses START,END in hexadecimal, with or without 0x. */
static int control_setup_take_range(const struct control_options *set,
				    struct daemonrc *rc, struct err *err)
{
	const char *at = set->kernel_range;
	uint64_t from, to;
	int r;

	if (!at)
		return 0;
	at += !strncmp(at, "0x", 2) ? 2 : 0;
	if (!parse_hex_at(&at, &from) || *at++ != ',')
		return err_set(
			err, -EINVAL,
			"invalid --kernel-range=%s: expected START,END in hexadecimal",
			set->kernel_range);
	at += !strncmp(at, "0x", 2) ? 2 : 0;
	if (!parse_hex_at(&at, &to) || *at || to < from)
		return err_set(
			err, -EINVAL,
			"invalid --kernel-range=%s: expected START,END in hexadecimal",
			set->kernel_range);
	r = daemonrc_set(rc, "KERNEL_RANGE", set->kernel_range);
	return r ? err_sys(err, r, "--kernel-range") : 0;
}

/* Checks --session-dir: a missing directory is created later, but another kind of file is an
 * error. */
static int check_session_dir(const char *dir, struct err *err)
{
	struct stat st;
	int r = stat(dir, &st) ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;

	return r && r != -ENOENT ? err_sys(err, r, "--session-dir=%s", dir) : 0;
}

static int take_session_dir(const struct control_options *set, struct daemonrc *rc,
			    struct err *err)
{
	char *cwd, *full;
	int r;

	if (!set->session_dir)
		return 0;
	if (!*set->session_dir)
		return err_set(err, -EINVAL, "No value given for option --session-dir");
	r = check_session_dir(set->session_dir, err);
	if (r)
		return r;
	cwd = getcwd(NULL, 0);
	full = cwd ? path_full(set->session_dir, cwd) : NULL;
	r = full ? daemonrc_set(rc, "SESSION_DIR", full) : -ENOMEM;
	free(full);
	free(cwd);
	return r ? err_sys(err, r, "--session-dir=%s", set->session_dir) : 0;
}

static void say_ignored(const struct control_options *set)
{
	for (size_t i = 0; i < COUNT_OF(ignored); i++) {
		if (text_at(set, ignored[i].field))
			screen_print_line(stderr, "\"%s\" ignored: %s",
					  ignored[i].option, ignored[i].why);
	}
}

bool control_setup_given(const struct control_options *set)
{
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (text_at(set, numbers[i].field))
			return true;
	}
	for (size_t i = 0; i < COUNT_OF(ignored); i++) {
		if (text_at(set, ignored[i].field))
			return true;
	}
	return set->session_dir || set->vmlinux || set->no_vmlinux || set->pid_filter ||
	       set->pgrp_filter || set->metrics_listen || set->kernel_range ||
	       set->kernel_only || set->events.values.nr || set->separate.values.nr ||
	       set->images.values.nr;
}

int control_setup_take(struct control *c, struct err *err)
{
	static int (*const takers[])(const struct control_options *, struct daemonrc *,
				     struct err *) = {
		take_session_dir,
		control_setup_events,
		take_separate,
		control_setup_take_vmlinux,
		control_setup_take_images,
		take_pid,
		take_metrics,
		take_numbers,
		control_setup_take_range,
	};

	if (!control_setup_given(&c->set))
		return 0;
	if (c->set.vmlinux && c->set.no_vmlinux && strcmp(c->set.vmlinux, "none") != 0)
		return err_set(err, -EINVAL,
			       "--vmlinux cannot be combined with --no-vmlinux");
	if (control_setup_defaults(&c->rc))
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < COUNT_OF(takers); i++) {
		int r = takers[i](&c->set, &c->rc, err);

		if (r)
			return r;
	}
	say_ignored(&c->set);
	return 1;
}
