/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pfm_none.c - replaces pfm.c in a build without libpfm4, which only has our own lists. */
#include <errno.h>

#include "base/err.h"
#include "capture/events/catalog_priv.h"

int event_pfm_add(struct event_catalog *c, const char *pmu)
{
	(void)c;
	(void)pmu;
	return -EOPNOTSUPP;
}

int event_pfm_walk(struct event_catalog *c, const char *pmu, const char **ret_path)
{
	(void)ret_path;
	return event_pfm_add(c, pmu);
}

int event_pfm_encode(struct pfm *pfm, const char *pmu, const char *event,
		     uint64_t ret_config[3], struct err *err)
{
	(void)pfm;
	(void)pmu;
	(void)ret_config;
	return err_set(err, -EINVAL, "Event %s: this build has no libpfm4", event);
}

void event_pfm_close(struct pfm *pfm)
{
	(void)pfm;
}

const char *event_pfm_version(void)
{
	return NULL;
}
