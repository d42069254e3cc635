/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs.c - parses events of the PMUs that sysfs describes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/tree.h"
#include "base/parse.h"
#include "capture/events/events.h"
#include "capture/events/priv.h"

/* The kernel describes a PMU in Documentation/ABI/testing/sysfs-bus-event_source-devices-format
 * and -events. A file in events/ contains terms ("event=0x3c,umask=0x01"). A file in format/
 * contains the bits of a config word that a term sets ("config:0-7,32-35"). */
enum {
	TERMS_MAX = 512,                  /* bytes of a term list */
	WORD_MAX = EVENTS_SYSFS_WORD_MAX, /* bytes of one file or term name */
	PATH_BYTES = 512,
	NESTING_MAX = 1 /* an event's own terms cannot refer to another event */
};

struct pmu {
	char dir[PATH_BYTES];
	const char *name; /* for messages */
};

/* Returns whether a name can be a path component without leading to another directory. */
static bool name_is_safe(const char *name)
{
	return *name && *name != '.' && strlen(name) < WORD_MAX && !strchr(name, '/');
}

/* Reads the first line of PMU/sub/name. Returns 0 or a negative errno. */
static int events_sysfs_read_line(const struct pmu *pmu, const char *sub,
				  const char *name, char ret_line[TERMS_MAX])
{
	char path[PATH_BYTES + 2 * WORD_MAX];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s%s", pmu->dir, sub, name);
	fd = io_open(path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	n = io_pread_full(fd, ret_line, TERMS_MAX - 1, 0);
	(void)close(fd);
	if (n < 0)
		return (int)n;
	ret_line[n] = '\0';
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return 0;
}

static uint64_t *config_word(struct perf_event_attr *attr, const char *word)
{
	if (!strcmp(word, "config"))
		return (uint64_t *)&attr->config;
	if (!strcmp(word, "config1"))
		return (uint64_t *)&attr->config1;
	if (!strcmp(word, "config2"))
		return (uint64_t *)&attr->config2;
	return NULL;
}

/* Sets bits `low` to `high` of *word to the low bits of *value, and shifts these out. */
static void fill_bits(uint64_t *word, uint64_t low, uint64_t high, uint64_t *value)
{
	uint64_t nr = high - low + 1;
	uint64_t mask = nr < 64 ? (1ULL << nr) - 1 : ~0ULL;

	*word = (*word & ~(mask << low)) | (*value & mask) << low;
	*value = nr < 64 ? *value >> nr : 0;
}

/* Spreads `value` over the bits of "config1:0-7,32". Returns -EBADMSG for a malformed text,
 * -ERANGE if the value has more bits. */
static int spread_value(struct perf_event_attr *attr, char *format, uint64_t value)
{
	char *ranges = strchr(format, ':');
	char *save = NULL;
	uint64_t *word;

	if (!ranges)
		return -EBADMSG;
	*ranges++ = '\0';
	word = config_word(attr, format);
	if (!word)
		return -EBADMSG;
	for (char *range = strtok_r(ranges, ",", &save); range;
	     range = strtok_r(NULL, ",", &save)) {
		char *dash = strchr(range, '-');
		uint64_t low;
		uint64_t high;

		if (dash)
			*dash = '\0';
		if (!parse_u64_max(range, 63, &low))
			return -EBADMSG;
		high = low;
		if (dash && (!parse_u64_max(dash + 1, 63, &high) || high < low))
			return -EBADMSG;
		fill_bits(word, low, high, &value);
	}
	return value ? -ERANGE : 0;
}

int events_sysfs_spread(struct perf_event_attr *attr, const char *format,
			uint64_t value)
{
	char copy[TERMS_MAX];

	if ((size_t)snprintf(copy, sizeof(copy), "%s", format) >= sizeof(copy))
		return -EBADMSG;
	copy[strcspn(copy, "\n")] = '\0';
	return spread_value(attr, copy, value);
}

static int apply_terms(const struct pmu *pmu, char *terms, int nesting,
		       struct event_request *e, struct err *err);

/* Applies a term that perf defines for all PMUs, such as period=N. Returns 0, 1 if it is not such
 * a term, or -EINVAL. */
static int apply_setting(const char *key, const char *value, struct event_request *e,
			 struct err *err)
{
	uint64_t number = 0;

	if (!value)
		return 1;
	if (!strcmp(key, "name")) {
		if ((size_t)snprintf(e->name, sizeof(e->name), "%s", value) >=
		    sizeof(e->name))
			return err_set(
				err, -EINVAL,
				"event term name=%s is too long: maximum is %zu bytes",
				value, sizeof(e->name) - 1);
		return 0;
	}
	if (strcmp(key, "period") != 0 && strcmp(key, "freq") != 0)
		return 1;
	if (!parse_u64_max(value, INT32_MAX, &number) || !number)
		return err_set(err, -EINVAL, "Invalid event part %s=%s", key, value);
	if (*key == 'p')
		e->count = number;
	else
		e->frequency_hz = number;
	return 0;
}

int events_sysfs_terms(const char *name, const char *terms, struct event_request *e,
		       struct err *err)
{
	char copy[EVENT_NAME_MAX];
	char *save = NULL;
	size_t len = strlen(terms);

	if (len < 2 || len >= sizeof(copy) || terms[len - 1] != '/')
		return err_set(
			err, -EINVAL,
			"Invalid event %s: expected EVENT/period=N/, /freq=N/ or /name=WORD/",
			name);
	(void)snprintf(copy, sizeof(copy), "%.*s", (int)len - 2, terms + 1);
	for (char *key = strtok_r(copy, ",", &save); key;
	     key = strtok_r(NULL, ",", &save)) {
		char *value = strchr(key, '=');
		int r;

		if (value)
			*value++ = '\0';
		r = apply_setting(key, value, e, err);
		if (r)
			return r < 0 ? r
				     : err_set(err, -EINVAL,
					       "Invalid event part %s of %s", key,
					       name);
	}
	return 0;
}

/* Applies a term without a value: the name of an event of the PMU, or else a term of one bit. */
static int apply_event(const struct pmu *pmu, const char *word, int nesting,
		       struct event_request *e, struct err *err)
{
	char terms[TERMS_MAX];
	int r;

	if (nesting >= NESTING_MAX)
		return -ENOENT;
	r = events_sysfs_read_line(pmu, "events/", word, terms);
	return r < 0 ? -ENOENT : apply_terms(pmu, terms, nesting + 1, e, err);
}

static int apply_term(const struct pmu *pmu, const char *key, const char *value_text,
		      struct event_request *e, struct err *err)
{
	char format[TERMS_MAX];
	uint64_t value = 1;
	uint64_t *word;
	int r;

	if (value_text && !parse_u64(value_text, &value))
		return err_set(err, -EINVAL, "Invalid event part %s=%s of %s", key,
			       value_text, pmu->name);
	word = config_word(&e->attr, key);
	if (word) {
		*word = value;
		return 0;
	}
	r = events_sysfs_read_line(pmu, "format/", key, format);
	if (r < 0)
		return err_set(err, -ENOENT,
			       "The PMU %2$s has no event and no term named %1$s.", key,
			       pmu->name);
	r = spread_value(&e->attr, format, value);
	if (r == -ERANGE)
		return err_set(
			err, -EINVAL,
			"Invalid event part %s=%s of the PMU %s: the value is too large for this term",
			key, value_text ? value_text : "1", pmu->name);
	if (r < 0)
		return err_set(
			err, -EINVAL,
			"cannot parse '%s/format/%s', the kernel's description of this event term",
			pmu->dir, key);
	return 0;
}

static int apply_terms(const struct pmu *pmu, char *terms, int nesting,
		       struct event_request *e, struct err *err)
{
	char *save = NULL;
	int r;

	for (char *key = strtok_r(terms, ",", &save); key;
	     key = strtok_r(NULL, ",", &save)) {
		char *value = strchr(key, '=');

		if (value)
			*value++ = '\0';
		if (!name_is_safe(key))
			return err_set(err, -EINVAL, "Invalid event part %s of %s", key,
				       pmu->name);
		r = nesting ? 1 : apply_setting(key, value, e, err);
		if (r == 1)
			r = value ? -ENOENT : apply_event(pmu, key, nesting, e, err);
		if (r == -ENOENT)
			r = apply_term(pmu, key, value, e, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int pmu_open(const char *root, const char *name, struct pmu *ret_pmu,
		    struct event_request *e)
{
	char line[TERMS_MAX];
	uint64_t type;
	int r;

	if (!name_is_safe(name))
		return -ENOENT;
	ret_pmu->name = name;
	(void)snprintf(ret_pmu->dir, sizeof(ret_pmu->dir), "%s/%s", root, name);
	r = events_sysfs_read_line(ret_pmu, "", "type", line);
	if (r < 0)
		return -ENOENT;
	if (!parse_u64_max(line, UINT32_MAX, &type))
		return -ENOENT;
	e->attr.type = (uint32_t)type;
	return 0;
}

int events_sysfs_pmu(const char *root, const char *name, struct event_request *event,
		     struct err *err)
{
	char first[EVENTS_SYSFS_WORD_MAX];
	char copy[EVENT_NAME_MAX];
	struct pmu pmu;
	char *terms;
	char *end;
	int r;

	(void)snprintf(copy, sizeof(copy), "%s", name);
	terms = strchr(copy, '/');
	end = terms ? strchr(terms + 1, '/') : NULL;
	if (!end || end[1])
		return err_set(
			err, -EINVAL,
			"Invalid event %s: expected PMU/event/, PMU/term=value,.../ or PMU//",
			name);
	*terms++ = '\0';
	*end = '\0';
	r = pmu_open(root, copy, &pmu, event);
	if (r < 0 && name_is_safe(copy) &&
	    !events_uncore_find(root, copy, first, event))
		r = pmu_open(root, first, &pmu, event);
	if (r < 0)
		return err_set(
			err, r,
			"No event named %s is available. (This machine has no PMU %s.)",
			name, copy);
	(void)snprintf(event->about, sizeof(event->about), "event of the PMU %s", copy);
	events_uncore_describe(root, pmu.name, terms, event);
	return apply_terms(&pmu, terms, 0, event, err);
}

/* Returns true for PMUs of the CPUs themselves: "cpu" and, if core types differ, those with a
 * file `cpus`. */
static bool is_core_pmu(const char *root, const char *name)
{
	char path[PATH_BYTES + WORD_MAX];

	if (!strcmp(name, "cpu"))
		return true;
	if (!name_is_safe(name))
		return false;
	(void)snprintf(path, sizeof(path), "%s/%s/cpus", root, name);
	return access(path, F_OK) == 0;
}

int events_sysfs_bare(const char *root, const char *name, struct event_request *event)
{
	DIR *dir = tree_open(root);
	const struct dirent *entry;
	int r = -ENOENT;

	if (!dir)
		return -ENOENT;
	while (r < 0 && (entry = tree_next(dir))) {
		struct event_request e = *event;
		struct pmu pmu;

		if (!name_is_safe(name) || !is_core_pmu(root, entry->d_name) ||
		    pmu_open(root, entry->d_name, &pmu, &e) < 0 ||
		    apply_event(&pmu, name, 0, &e, NULL) < 0)
			continue;
		(void)snprintf(e.about, sizeof(e.about), "event of the PMU %s",
			       pmu.name);
		*event = e;
		r = 0;
	}
	(void)closedir(dir);
	return r;
}

void events_sysfs_suggest(const char *root, struct closest_matches *near)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/cpu/events", root);
	dir = tree_open(path);
	if (!dir)
		return;
	while ((entry = tree_next(dir)))
		if (name_is_safe(entry->d_name) && !strchr(entry->d_name, '.'))
			closest_matches_try(near, entry->d_name);
	(void)closedir(dir);
}

unsigned int events_sysfs_precise(const char *root)
{
	static const char *const names[] = { "cpu", "cpu_core" };
	uint64_t level = 0;

	for (size_t i = 0; i < 2 && !level; i++) {
		struct pmu pmu = { .name = names[i] };
		char line[TERMS_MAX];

		(void)snprintf(pmu.dir, sizeof(pmu.dir), "%s/%s", root, names[i]);
		if (events_sysfs_read_line(&pmu, "caps/", "max_precise", line) ||
		    !parse_u64_max(line, 3, &level))
			level = 0;
	}
	return (unsigned int)level;
}

static int events_sysfs_by_type(const void *left, const void *right)
{
	const struct core_pmu *a = left;
	const struct core_pmu *b = right;

	return a->type < b->type ? -1 : a->type > b->type;
}

size_t events_sysfs_core_types(const char *root, struct core_pmu *ret_pmus, size_t max)
{
	DIR *dir = tree_open(root);
	const struct dirent *entry;
	size_t nr = 0;

	while (dir && nr < max && (entry = tree_next(dir))) {
		struct event_request e = { 0 };
		char cpus[TERMS_MAX] = "";
		struct pmu pmu;

		if (!strcmp(entry->d_name, "cpu") ||
		    !is_core_pmu(root, entry->d_name) ||
		    pmu_open(root, entry->d_name, &pmu, &e) < 0)
			continue;
		(void)snprintf(ret_pmus[nr].name, sizeof(ret_pmus[nr].name), "%.63s",
			       entry->d_name);
		(void)events_sysfs_read_line(&pmu, "", "cpus", cpus);
		(void)snprintf(ret_pmus[nr].cpus, sizeof(ret_pmus[nr].cpus), "%.63s",
			       cpus);
		ret_pmus[nr++].type = e.attr.type;
	}
	if (dir)
		(void)closedir(dir);
	if (nr)
		qsort(ret_pmus, nr, sizeof(*ret_pmus), events_sysfs_by_type);
	return nr;
}
