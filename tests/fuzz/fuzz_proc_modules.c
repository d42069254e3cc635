/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_proc_modules.c - any bytes as the text of /proc/modules, /proc/kallsyms, a file of
 * /sys/module/NAME/sections, a session's list of modules, a tracepoint's description and its
 * raw data, and the files of /proc that name control groups. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/events/tracepoint.h"
#include "capture/system/cgroups.h"
#include "capture/system/kernel_files_priv.h"
#include "capture/system/module_watch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count(void *ctx, enum module_event event, const struct proc_module *m)
{
	size_t *nr = ctx;

	if (event == MODULE_LIVE && !m->live)
		abort();
	nr[event]++;
	return 0;
}

/* All modules of a text are reported once, and none when the text is read again. */
static void watch(const char *text)
{
	struct module_watch w = { 0 };
	size_t nr[2] = { 0 };
	size_t came;

	if (module_watch_take(&w, "", count, nr) ||
	    module_watch_take(&w, text, count, nr))
		abort();
	came = nr[MODULE_LOADED];
	if (came > strlen(text) || module_watch_take(&w, text, count, nr) ||
	    nr[MODULE_LOADED] != came)
		abort();
	module_watch_done(&w);
}

static void check_tracepoint(const char *text, size_t size)
{
	struct tracepoint t = { .name_at = size ? (uint8_t)text[0] : 0 };
	const char *name;

	(void)tracepoint_parse(text, &t);
	name = tracepoint_name(&t, text, size);
	if (name && strlen(name) >= size)
		abort();
}

/* Checks that merging the same text again adds nothing. */
static void check_merge(const char *text, size_t size)
{
	struct buf out = { 0 };
	size_t len;

	kernel_files_merge_modules(text, size, &out);
	len = out.len;
	kernel_files_merge_modules(text, size, &out);
	if (out.len != len || len > size + 1)
		abort();
	buf_done(&out);
}

/* Runs the parsers of control groups; each one modifies its own copy of the text. */
static void check_cgroups(const char *text)
{
	char *line = strdup(text);
	int v1;

	if (line)
		(void)cgroups_line_mount(line, &v1);
	free(line);
	for (v1 = 0; v1 < 2; v1++) {
		line = strdup(text);
		if (line)
			(void)cgroups_line_path(line, v1);
		free(line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct proc_module m;
	struct buf out = { 0 };
	const char *at = text;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	watch(text);
	check_tracepoint(text, size);
	check_merge(text, size);
	check_cgroups(text);
	(void)kernel_files_modules_hash(text);
	while (proc_modules_next(&at, &m)) {
		if (!m.name[0] || m.name[0] == '.' || strchr(m.name, '/'))
			abort();
		kernel_files_describe_module(&m, "/nowhere", &out);
		kernel_files_filter_module(text, size, m.name, &out);
	}
	buf_clear(&out);
	kernel_files_put_section(".text", text, &out);
	if (out.len && (out.len < 8 || memcmp(out.data, " .text=", 7)))
		abort();
	buf_done(&out);
	free(text);
	return 0;
}
