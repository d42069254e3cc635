/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pfm.c - loads libpfm4's library at run time, because few commands need it. If it is the
 * library that was present at build time, its tables are built in (events/pfm/pfm_tables.h). */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/cpu_types.h"
#include "capture/events/pfm/pfm_tables.h"

#define LOCAL "/usr/local/"

enum {
	PFM_TEXT_MAX = 512,
	PFM_CODES = 8
};
/* Bits of the register for user, kernel, interrupt and enable, which perf sets from separate
 * fields of the attr. */
static const uint64_t register_bits = 0x530000;

struct pfm {
	void *lib; /* NULL: not loaded yet */
	pfm_err_t (*initialize)(void);
	void (*terminate)(void);
	const char *(*strerror)(int);
	pfm_err_t (*get_pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
	pfm_err_t (*get_event_info)(int, pfm_os_t, pfm_event_info_t *);
	pfm_err_t (*get_attr_info)(int, int, pfm_os_t, pfm_event_attr_info_t *);
	int (*get_event_next)(int);
	pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);
};

static bool is_that_of_tables(const char *path)
{
	uint64_t id = event_pfm_tables.library_id;

	return id && event_pfm_file_id(path) == id;
}

/* Returns true if there is a libpfm below /usr/local, which loaders prefer where distributions
 * configure it (ld.so.conf(5)). Searches lib, and the directory with the same name as that of
 * the tables' library (lib64, or lib/MACHINE). */
static bool is_another_local(void)
{
	const char *own = event_pfm_tables.library;
	const char *file = strrchr(own, '/');
	const char *folder = file;
	char path[PATH_MAX];

	if (!file || !strncmp(own, LOCAL, strlen(LOCAL)))
		return false;
	while (folder > own && folder[-1] != '/')
		folder--;
	if (!access(LOCAL "lib/libpfm.so.4", F_OK))
		return true;
	snprintf(path, sizeof(path), LOCAL "lib/%s", folder);
	if (!access(path, F_OK))
		return true;
	snprintf(path, sizeof(path), LOCAL "%s", folder);
	return !access(path, F_OK);
}

/* Returns whether dlopen() would load the library that the tables were made from. Does not load
 * it, because that takes longer than everything else. */
static bool is_as_built(void)
{
	const char *folders = getenv("LD_LIBRARY_PATH");

	return (!folders || !*folders) && !is_another_local() &&
	       is_that_of_tables(event_pfm_tables.library);
}

static int find_functions(struct pfm *p)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "pfm_initialize", &p->initialize },
		{ "pfm_terminate", &p->terminate },
		{ "pfm_strerror", &p->strerror },
		{ "pfm_get_pmu_info", &p->get_pmu_info },
		{ "pfm_get_event_info", &p->get_event_info },
		{ "pfm_get_event_attr_info", &p->get_attr_info },
		{ "pfm_get_event_next", &p->get_event_next },
		{ "pfm_get_os_event_encoding", &p->encode },
	};

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		void *f = dlsym(p->lib, functions[i].name);

		if (!f)
			return -EOPNOTSUPP;
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return 0;
}

/* Initializes the library with settings that it reads only from the environment; they are removed
 * before children could inherit them. They allow tables of other CPUs, and restrict the search to
 * `pmu`, which saves milliseconds of CPUID instructions in a virtual machine. */
static int initialize(struct pfm *p, const char *pmu)
{
	const struct {
		const char *name;
		const char *value;
	} settings[] = { { "LIBPFM_ENCODE_INACTIVE", "1" },
			 { "LIBPFM_FORCE_PMU", pmu } };
	bool had[2];
	pfm_err_t r;

	for (size_t i = 0; i < 2; i++) {
		had[i] = getenv(settings[i].name) != NULL;
		if (!had[i])
			(void)setenv(settings[i].name, settings[i].value, 1);
	}
	r = p->initialize();
	for (size_t i = 0; i < 2; i++)
		if (!had[i])
			(void)unsetenv(settings[i].name);
	return r == PFM_SUCCESS ? 0 : -EOPNOTSUPP;
}

void event_pfm_close(struct pfm *p)
{
	if (!p)
		return;
	if (p->lib)
		dlclose(p->lib);
	free(p);
}

/* Tries the library that the tables were made from first, because further queries must go to
 * the same version. */
static void *open_library(void)
{
	void *lib = NULL;

	if (is_as_built())
		lib = dlopen(event_pfm_tables.library, RTLD_NOW | RTLD_LOCAL);
	return lib ? lib : dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
}

/* Loads the library unless it is loaded already. Returns 0 or -EOPNOTSUPP. */
static int event_pfm_load(struct pfm *p, const char *pmu)
{
	int r;

	if (p->lib)
		return 0;
	p->lib = open_library();
	if (!p->lib)
		return -EOPNOTSUPP;
	r = find_functions(p);
	if (!r)
		r = initialize(p, pmu);
	if (r) {
		dlclose(p->lib);
		p->lib = NULL;
	}
	return r;
}

static int take_handle(struct event_catalog *c)
{
	if (!c->pfm)
		c->pfm = calloc(1, sizeof(*c->pfm));
	return c->pfm ? 0 : -ENOMEM;
}

static bool find_pmu(const struct pfm *p, const char *name, pfm_pmu_info_t *ret_info)
{
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (p->get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS ||
		    strcmp(info.name, name))
			continue;
		*ret_info = info;
		return true;
	}
	return false;
}

/* Converts a mask's code to bits: the table of the Pentium 4 contains the bit number instead. */
static uint64_t mask_bits(const struct event_catalog *c, uint64_t code)
{
	return code < 32 && !strncmp(c->cpu->pfm, "netburst", strlen("netburst"))
		       ? (uint64_t)1 << code
		       : code;
}

/* Adds the masks of an event. They precede the attributes, which all events share, so stop there:
 * querying the attributes would cost as much as all masks. Intel's and AMD's tables have the unit
 * mask in the second byte of a mask's code; the library returns it shifted down. */
static int add_masks(struct event_catalog *c, const struct pfm *p,
		     const pfm_event_info_t *event)
{
	for (int i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t a = { .size = sizeof(a) };
		struct catalog_mask mask = { 0 };

		if (p->get_attr_info(event->idx, i, PFM_OS_NONE, &a) != PFM_SUCCESS)
			continue;
		if (a.type != PFM_ATTR_UMASK)
			break;
		mask.name = a.name;
		mask.about = a.desc ? a.desc : "";
		mask.value = mask_bits(c, a.code);
		mask.is_default = a.is_dfl;
		mask.precise = a.is_precise;
		if (event_catalog_add_mask(c, &mask))
			return -ENOMEM;
	}
	return 0;
}

static int event_pfm_add_event(struct event_catalog *c, const struct pfm *p, int idx)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	struct catalog_event event = { .from_pfm = true };

	if (p->get_event_info(idx, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return 0;
	event.name = info.name;
	event.about = info.desc ? info.desc : "";
	event.code = info.code;
	event.same_as = info.equiv;
	event.precise = info.is_precise;
	event.min_count = event_min_count(info.name);
	if (event_catalog_add(c, &event))
		return -ENOMEM;
	return add_masks(c, p, &info);
}

static const char *library_path(const struct pfm *p)
{
	struct link_map *map = NULL;

	return dlinfo(p->lib, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

int event_pfm_walk(struct event_catalog *c, const char *pmu, const char **ret_path)
{
	pfm_pmu_info_t info;
	int r = take_handle(c);

	if (!r)
		r = event_pfm_load(c->pfm, pmu);
	if (r)
		return r;
	if (!find_pmu(c->pfm, pmu, &info))
		return -ENOENT;
	c->nr_counters = (unsigned int)info.num_cntrs;
	for (int i = info.first_event; i >= 0 && !r; i = c->pfm->get_event_next(i))
		r = event_pfm_add_event(c, c->pfm, i);
	if (!r && ret_path)
		*ret_path = library_path(c->pfm);
	return r;
}

/* Uses the built-in tables, unless the library on this machine is a different one. */
int event_pfm_add(struct event_catalog *c, const char *pmu)
{
	int r = take_handle(c);

	if (r)
		return r;
	if (event_pfm_table_has(pmu) && (is_as_built() || event_pfm_load(c->pfm, pmu) ||
					 is_that_of_tables(library_path(c->pfm))))
		return event_pfm_table_add(c, pmu);
	return event_pfm_walk(c, pmu, NULL);
}

static int encode_for_perf(const struct pfm *p, const char *text, uint64_t config[3])
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int r = p->encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);

	config[0] = attr.config;
	config[1] = attr.config1;
	config[2] = attr.config2;
	return r;
}

/* Encodes an event of a PMU that perf does not support on this machine. */
static int encode_for_register(const struct pfm *p, const char *text,
			       uint64_t config[3])
{
	uint64_t codes[PFM_CODES] = { 0 };
	pfm_pmu_encode_arg_t arg = { .codes = codes,
				     .count = PFM_CODES,
				     .size = sizeof(arg) };
	int r = p->encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);

	config[0] = codes[0] & ~register_bits;
	config[1] = arg.count > 1 ? codes[1] : 0;
	config[2] = 0;
	return r;
}

int event_pfm_encode(struct pfm *p, const char *pmu, const char *event,
		     uint64_t ret_config[3], struct err *err)
{
	char text[PFM_TEXT_MAX];
	uint64_t config[3];
	int r;

	if ((size_t)snprintf(text, sizeof(text), "%s::%s", pmu, event) >= sizeof(text))
		return err_set(err, -EINVAL, "event %.40s... is too long", event);
	if (event_pfm_load(p, pmu))
		return err_set(
			err, -EINVAL,
			"Event %s: libpfm4 is needed to combine its unit masks: install libpfm4",
			event);
	r = encode_for_perf(p, text, config);
	if (r != PFM_SUCCESS)
		r = encode_for_register(p, text, config);
	if (r == PFM_ERR_UMASK)
		return err_set(err, -EINVAL, "Event %s needs a unit mask", event);
	if (r == PFM_ERR_FEATCOMB)
		return err_set(err, -EINVAL,
			       "The unit masks of %s cannot be counted together",
			       event);
	if (r != PFM_SUCCESS)
		return err_set(err, -EINVAL, "Event %s: libpfm4 rejects it: %s", event,
			       p->strerror(r));
	memcpy(ret_config, config, sizeof(config));
	return 0;
}

const char *event_pfm_version(void)
{
	return "4"; /* the headers contain only the major version */
}
