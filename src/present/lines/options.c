/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/options.h"

#include <errno.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"

int present_needs_one_event(const struct profile *p, const char *what, struct err *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->events.nr; i++)
		nr += p->events.at[i].samples > 0;
	if (nr <= 1)
		return 0;
	return err_set(
		err, -EINVAL,
		"%s supports only one event, but there are %zu: select one, for example event:%s",
		what, nr, profile_event_name(p, 0));
}
