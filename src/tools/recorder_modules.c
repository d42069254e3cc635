/* recorder_modules.c - kernel modules that are loaded while a recording runs. */
#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "capture/kernel_files.h"
#include "capture/snapshot.h"
#include "tools/recorder_priv.h"
#include "tools/session_dir.h"

struct look {
	struct recorder *r;
	VEC(struct proc_module) live;
};

/* It may have run since the last look, which did not see it. */
static int take_module(struct look *l, const struct proc_module *m)
{
	struct recorder *r = l->r;
	int result;

	log_say(LOG_DEBUG, "module %s was loaded", m->name);
	r->snapshot_is_new = true;
	result = snapshot_module(r->snapshot, m, r->modules_ns + 1);
	r->snapshot_is_new = false;
	return result;
}

static int tell(void *ctx, enum module_event event, const struct proc_module *m)
{
	struct look *l = ctx;

	if (event == MODULE_CAME)
		return take_module(l, m);
	return vec_push(&l->live, *m) ? 0 : -ENOMEM;
}

int recorder_look_at_modules(struct recorder *r)
{
	struct look l = { .r = r };
	struct err err = { 0 };
	int result;

	if (r->config.session_flags & SESSION_USER_ONLY)
		return 0;
	result = module_watch_look(&r->modules, tell, &l);
	r->modules_ns = r->frontier_ns;
	/* Without them the report says what is missing. */
	if (l.live.nr && kernel_files_add_modules(r->config.dir->writing, l.live.at,
						  l.live.nr, &err))
		log_say(LOG_WARNING, "modules loaded meanwhile are not saved: %s",
			err.text);
	vec_done(&l.live);
	return result == -ENOMEM ? err_set(r->err, result, "out of memory") : 0;
}
