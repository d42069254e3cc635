/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/module_watch.h"

#include <errno.h>
#include <string.h>

#include "base/files/io.h"

enum {
	TEXT_BYTES_MAX = 16 << 20
};

/* Returns whether a known module is the one in /proc/modules. Shortly after a module became live,
 * the kernel frees its init sections (do_init_module()), so it is smaller then, once, but still
 * the same. A second entry with the same name and address in one text is a different module. */
static bool module_watch_is_same(struct module_watch_entry *e,
				 const struct proc_module *m)
{
	if (e->module.address != m->address || strcmp(e->module.name, m->name) != 0)
		return false;
	if (m->bytes < e->module.bytes && !e->shrunk && !e->seen) {
		e->shrunk = true;
		e->module.bytes = m->bytes;
	}
	return e->module.bytes == m->bytes;
}

static struct module_watch_entry *module_watch_find(struct module_watch *w,
						    const struct proc_module *m)
{
	for (size_t i = 0; i < w->known.nr; i++)
		if (module_watch_is_same(&w->known.at[i], m))
			return &w->known.at[i];
	return NULL;
}

void module_watch_reported(struct module_watch *w, const char *name, uint64_t time_ns)
{
	struct module_reported entry = { .time_ns = time_ns };
	size_t len = strlen(name);

	if (len >= sizeof(entry.name))
		return;
	memcpy(entry.name, name, len + 1);
	/* If this fails, a later module_watch_look() finds the module. */
	(void)vec_push(&w->seen, entry);
}

bool module_watch_is_reported(const struct module_watch *w)
{
	return w->seen.nr;
}

uint64_t module_watch_time(const struct module_watch *w, const char *name)
{
	for (size_t i = w->seen.nr; i; i--)
		if (!strcmp(w->seen.at[i - 1].name, name))
			return w->seen.at[i - 1].time_ns;
	return 0;
}

static int module_watch_take_module(struct module_watch *w, const struct proc_module *m,
				    module_watch_report report_fn, void *ctx)
{
	struct module_watch_entry *e = module_watch_find(w, m);
	int r = 0;

	if (!e) {
		struct module_watch_entry entry = { .module = *m,
						    .reported_live = !w->begun };

		if (!vec_push(&w->known, entry))
			return -ENOMEM;
		e = &w->known.at[w->known.nr - 1];
		if (w->begun)
			r = report_fn(ctx, MODULE_LOADED, m);
	}
	e->seen = true;
	if (!r && !e->reported_live && (m->live || module_watch_time(w, m->name))) {
		e->reported_live = true;
		r = report_fn(ctx, MODULE_LIVE, m);
	}
	return r;
}

/* Forgets modules that were unloaded, because a module that is loaded again, even at the same
 * address, can be a different one. */
static void module_watch_forget_gone(struct module_watch *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->known.nr; i++) {
		struct module_watch_entry e = w->known.at[i];

		if (!e.seen)
			continue;
		e.seen = false;
		w->known.at[nr++] = e;
	}
	w->known.nr = nr;
}

int module_watch_take(struct module_watch *w, const char *text,
		      module_watch_report report_fn, void *ctx)
{
	struct proc_module m;
	int r = 0;

	while (!r && proc_modules_next(&text, &m))
		if (m.address && m.bytes)
			r = module_watch_take_module(w, &m, report_fn, ctx);
	module_watch_forget_gone(w);
	w->seen.nr = 0;
	w->begun = true;
	return r;
}

int module_watch_look(struct module_watch *w, module_watch_report report_fn, void *ctx)
{
	struct buf text = w->last;
	int r;

	if (w->off)
		return 0;
	w->last = w->text;
	w->text = text;
	buf_clear(&w->text);
	r = io_read_file("/proc/modules", &w->text, TEXT_BYTES_MAX);
	w->off = r == -ENOENT;
	if (r)
		return w->off ? 0 : r;
	buf_put_u8(&w->text, '\0');
	if (w->text.failed)
		return -ENOMEM;
	if (w->begun && !w->seen.nr && w->text.len == w->last.len &&
	    !memcmp(w->text.data, w->last.data, w->text.len))
		return 0;
	return module_watch_take(w, (const char *)w->text.data, report_fn, ctx);
}

void module_watch_done(struct module_watch *w)
{
	buf_done(&w->text);
	buf_done(&w->last);
	vec_done(&w->known);
	vec_done(&w->seen);
}
