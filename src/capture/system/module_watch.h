/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_watch.h - detects kernel modules that are loaded during a recording. The kernel writes
 * no record for them, so the list of modules is read repeatedly.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "capture/system/proc_modules.h"

struct module_watch_entry {
	struct proc_module module;
	bool reported_live;
	bool shrunk; /* its init sections were freed, so its size has changed */
	bool seen;   /* it is in the /proc/modules that is being read */
};

/* A module that the kernel reported as loaded. */
struct module_reported {
	char name[PROC_MODULE_NAME_MAX];
	uint64_t time_ns;
};

struct module_watch { /* zero it before use */
	struct buf text;
	struct buf last; /* the previous text */
	VEC(struct module_watch_entry) known;
	VEC(struct module_reported) seen;
	bool begun;
	bool off; /* the kernel has no modules */
};

enum module_event {
	MODULE_LOADED, /* it has its address, and its code can run */
	MODULE_LIVE    /* its sections and symbols can be read */
};

/* Receives the changes. A negative return value stops module_watch_look(), which returns it. */
typedef int (*module_watch_report)(void *ctx, enum module_event event,
				   const struct proc_module *module);

/* Call when the kernel has reported that a module was loaded. The next module_watch_look() reports
 * it as live, whatever state /proc/modules shows. */
void module_watch_reported(struct module_watch *w, const char *name, uint64_t time_ns);
/* module_watch_is_reported() returns whether module_watch_reported() was called since the last
 * module_watch_look(). module_watch_time() returns the time that was passed for this module, or
 * 0. */
bool module_watch_is_reported(const struct module_watch *w);
uint64_t module_watch_time(const struct module_watch *w, const char *name);
/* Reads /proc/modules, and reports the modules that were loaded or became live since the last call;
 * the first call reports nothing. Ignores modules with hidden addresses. Returns 0, the result of
 * report_fn, or another negative errno. */
int module_watch_look(struct module_watch *w, module_watch_report report_fn, void *ctx);
/* Like module_watch_look(), for the text of /proc/modules, NUL-terminated. */
int module_watch_take(struct module_watch *w, const char *text,
		      module_watch_report report_fn, void *ctx);
void module_watch_done(struct module_watch *w);
