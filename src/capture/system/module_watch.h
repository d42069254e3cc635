/* module_watch.h - sees kernel modules come while a recording runs, of which the kernel writes
 * no record: the list of them is read again and again.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "capture/system/proc_modules.h"

struct module_watch_entry {
	struct proc_module module;
	bool told_live;
	bool shrunk; /* what ran only once is given back */
	bool seen;   /* in the text at hand */
};

/* The kernel said that it was loaded. */
struct module_told {
	char name[PROC_MODULE_NAME_MAX];
	uint64_t time_ns;
};

struct module_watch { /* all zero to begin with */
	struct buf text;
	struct buf last; /* the text before */
	VEC(struct module_watch_entry) known;
	VEC(struct module_told) told;
	bool begun;
	bool off; /* a kernel without modules */
};

enum module_event {
	MODULE_CAME, /* it has its place, and its code may run */
	MODULE_LIVE  /* its sections and symbols can be read */
};

/* A negative return ends the look and becomes its result. */
typedef int (*module_watch_tell)(void *ctx, enum module_event event,
				 const struct proc_module *module);

/* A module was loaded then: at the next look it is live, whatever is said of it there. */
void module_watch_told(struct module_watch *w, const char *name, uint64_t time_ns);
/* Whether one was told of since the last look, and when; 0: it was not. */
bool module_watch_is_told(const struct module_watch *w);
uint64_t module_watch_time(const struct module_watch *w, const char *name);
/* Reads /proc/modules and tells what is new since the last look; the first one tells nothing.
 * Modules with hidden addresses are none.  0, what `tell` returned, or another negative
 * errno. */
int module_watch_look(struct module_watch *w, module_watch_tell tell, void *ctx);
/* The same of a text that was read, which is terminated. */
int module_watch_take(struct module_watch *w, const char *text, module_watch_tell tell,
		      void *ctx);
void module_watch_done(struct module_watch *w);
