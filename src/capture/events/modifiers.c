/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modifiers.c - perf's modifier letters after an event: cycles:ppp, page-faults:u. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "capture/events/events.h"
#include "capture/events/priv.h"

enum {
	LETTERS_MAX = 12,
	PRECISE_MAX = 3
};

static const char known[] = "ukhIGHpPSDeW";

bool event_modifiers_are(const char *letters)
{
	size_t len = strlen(letters);

	return len && len <= LETTERS_MAX && strspn(letters, known) == len;
}

static void scope_letters(const char *letters, struct event_request *e)
{
	if (!strpbrk(letters, "ukh"))
		return;
	e->scope_given = true;
	e->user = strchr(letters, 'u') != NULL;
	e->kernel = strchr(letters, 'k') != NULL;
	e->hypervisor = strchr(letters, 'h') != NULL;
}

int event_modifiers_apply(const char *letters, const char *sysfs,
			  struct event_request *e, struct err *err)
{
	unsigned int precise = 0;

	for (const char *at = letters; *at; at++)
		precise += *at == 'p';
	if (precise > PRECISE_MAX)
		return err_set(err, -EINVAL, "Invalid event part %s of %s: at most ppp",
			       letters, e->name);
	if (strchr(letters, 'P'))
		precise = events_sysfs_precise(sysfs);
	if (precise)
		e->attr.precise_ip = precise & PRECISE_MAX;
	e->precise_given = strchr(letters, 'p') != NULL;
	scope_letters(letters, e);
	e->attr.exclude_idle = strchr(letters, 'I') != NULL;
	e->attr.pinned = strchr(letters, 'D') != NULL;
	e->attr.exclusive = strchr(letters, 'e') != NULL;
	e->attr.exclude_host = strchr(letters, 'G') && !strchr(letters, 'H');
	e->leads = strchr(letters, 'S') != NULL;
	return 0;
}
