/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other_pfm.c - a libpfm.so.4 of another build: forwards to the library $REAL_PFM; if
 * $OTHER_ABOUT is set, it is the description of all events. */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <stdlib.h>
#include <string.h>

/* Stores the address of the function with that name in the real library. */
static void find(const char *name, void *ret_function, size_t bytes)
{
	const char *path = getenv("REAL_PFM");
	void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *function = lib ? dlsym(lib, name) : NULL;

	if (!function)
		abort();
	memcpy(ret_function, &function, bytes);
}

pfm_err_t pfm_initialize(void)
{
	pfm_err_t (*real)(void);

	find("pfm_initialize", &real, sizeof(real));
	return real();
}

void pfm_terminate(void)
{
	void (*real)(void);

	find("pfm_terminate", &real, sizeof(real));
	real();
}

const char *pfm_strerror(int code)
{
	const char *(*real)(int);

	find("pfm_strerror", &real, sizeof(real));
	return real(code);
}

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
	pfm_err_t (*real)(pfm_pmu_t, pfm_pmu_info_t *);

	find("pfm_get_pmu_info", &real, sizeof(real));
	return real(pmu, output);
}

pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	pfm_err_t (*real)(int, pfm_os_t, pfm_event_info_t *);
	const char *about = getenv("OTHER_ABOUT");
	pfm_err_t r;

	find("pfm_get_event_info", &real, sizeof(real));
	r = real(idx, os, output);
	if (about)
		output->desc = about;
	return r;
}

pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os,
				  pfm_event_attr_info_t *output)
{
	pfm_err_t (*real)(int, int, pfm_os_t, pfm_event_attr_info_t *);

	find("pfm_get_event_attr_info", &real, sizeof(real));
	return real(eidx, aidx, os, output);
}

int pfm_get_event_next(int idx)
{
	int (*real)(int);

	find("pfm_get_event_next", &real, sizeof(real));
	return real(idx);
}

pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t uos,
				    void *args)
{
	pfm_err_t (*real)(const char *, int, pfm_os_t, void *);

	find("pfm_get_os_event_encoding", &real, sizeof(real));
	return real(str, dfl_plm, uos, args);
}
