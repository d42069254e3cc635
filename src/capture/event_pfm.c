/* event_pfm.c - libpfm4's tables of events, loaded at run time: few commands ask for them. */
#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/event_catalog_priv.h"

enum {
	PFM_TEXT_MAX = 512,
	PFM_CODES = 8
};
/* Of the register alone: user, kernel, interrupt and enable; perf has fields for them. */
static const uint64_t register_bits = 0x530000;

struct pfm {
	void *lib;
	pfm_err_t (*initialize)(void);
	void (*terminate)(void);
	const char *(*strerror)(int);
	pfm_err_t (*get_pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
	pfm_err_t (*get_event_info)(int, pfm_os_t, pfm_event_info_t *);
	pfm_err_t (*get_attr_info)(int, int, pfm_os_t, pfm_event_attr_info_t *);
	int (*get_event_next)(int);
	pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);
};

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

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(p->lib, functions[i].name);

		if (!f)
			return -EOPNOTSUPP;
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return 0;
}

/* The library takes wishes from its environment only, which our children do not inherit: tables
 * of other CPUs than this one are used, too, and of those no other than `pmu` needs to be looked
 * for, which costs a virtual machine milliseconds of CPUID. */
static int initialize(struct pfm *p, const char *pmu)
{
	const struct {
		const char *name;
		const char *value;
	} wishes[] = { { "LIBPFM_ENCODE_INACTIVE", "1" }, { "LIBPFM_FORCE_PMU", pmu } };
	bool had[2];
	pfm_err_t r;

	for (size_t i = 0; i < 2; i++) {
		had[i] = getenv(wishes[i].name) != NULL;
		if (!had[i])
			(void)setenv(wishes[i].name, wishes[i].value, 1);
	}
	r = p->initialize();
	for (size_t i = 0; i < 2; i++)
		if (!had[i])
			(void)unsetenv(wishes[i].name);
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

static int load(const char *pmu, struct pfm **ret_pfm)
{
	struct pfm *p = calloc(1, sizeof(*p));
	int r = -EOPNOTSUPP;

	if (!p)
		return -ENOMEM;
	p->lib = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	if (p->lib)
		r = find_functions(p);
	if (!r)
		r = initialize(p, pmu);
	if (r) {
		event_pfm_close(p);
		return r;
	}
	*ret_pfm = p;
	return 0;
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

/* Intel's tables keep the unit mask in the second byte of a mask's code, AMD's alike; the
 * library gives it shifted down. */
static int add_masks(struct event_catalog *c, const struct pfm *p,
		     const pfm_event_info_t *event)
{
	for (int i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t a = { .size = sizeof(a) };
		struct catalog_mask mask = { 0 };

		if (p->get_attr_info(event->idx, i, PFM_OS_NONE, &a) != PFM_SUCCESS ||
		    a.type != PFM_ATTR_UMASK)
			continue;
		mask.name = a.name;
		mask.about = a.desc ? a.desc : "";
		mask.value = a.code;
		mask.is_default = a.is_dfl;
		mask.precise = a.is_precise;
		if (!vec_push(&c->masks, mask))
			return -ENOMEM;
		c->events.at[c->events.nr - 1].nr_masks++;
	}
	return 0;
}

static int add_event(struct event_catalog *c, const struct pfm *p, int idx)
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

int event_pfm_add(struct event_catalog *c, const char *pmu)
{
	pfm_pmu_info_t info;
	int r = c->pfm ? 0 : load(pmu, &c->pfm);

	if (r)
		return r;
	if (!find_pmu(c->pfm, pmu, &info))
		return -ENOENT;
	c->nr_counters = (unsigned int)info.num_cntrs;
	for (int i = info.first_event; i >= 0 && !r; i = c->pfm->get_event_next(i))
		r = add_event(c, c->pfm, i);
	return r;
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

/* For PMUs that perf on this machine knows not. */
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

int event_pfm_encode(const struct pfm *p, const char *pmu, const char *event,
		     uint64_t ret_config[3], struct err *err)
{
	char text[PFM_TEXT_MAX];
	uint64_t config[3];
	int r;

	if ((size_t)snprintf(text, sizeof(text), "%s::%s", pmu, event) >= sizeof(text))
		return err_set(err, -EINVAL, "event %.40s... is too long", event);
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
		return err_set(err, -EINVAL, "Event %s: libpfm4 says: %s", event,
			       p->strerror(r));
	memcpy(ret_config, config, sizeof(config));
	return 0;
}

const char *event_pfm_version(void)
{
	return "4"; /* the headers know no more */
}
