/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uncore.c - PMUs that count for a part of the machine instead of a CPU: memory controllers,
 * cache slices, energy.  Source: Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events (scale, unit) and
 * Documentation/admin-guide/perf (cpumask). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/io.h"
#include "base/files/tree.h"
#include "base/parse.h"
#include "capture/events/events.h"
#include "capture/events/priv.h"

enum {
	PATH_BYTES = 512,
	LINE_BYTES = 64
};

/* Returns 3 for uncore_cbox_3 if `kind` is cbox or uncore_cbox, and -1 if the PMU is not of
 * this kind. */
static long instance_number(const char *pmu, const char *kind)
{
	static const char before[] = "uncore_";
	size_t len = strlen(kind);
	uint64_t number;

	if (strncmp(pmu, kind, len) && !strncmp(pmu, before, sizeof(before) - 1))
		pmu += sizeof(before) - 1;
	if (strncmp(pmu, kind, len))
		return -1;
	if (!pmu[len])
		return 0;
	return pmu[len] == '_' && parse_u64_max(pmu + len + 1, INT32_MAX, &number)
		       ? (long)number
		       : -1;
}

static bool file_line(const char *root, const char *pmu, const char *file,
		      char ret_line[LINE_BYTES])
{
	char path[PATH_BYTES];
	ssize_t n;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, file) >=
	    sizeof(path))
		return false;
	fd = io_open(path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	n = io_pread_full(fd, ret_line, LINE_BYTES - 1, 0);
	(void)close(fd);
	if (n <= 0)
		return false;
	ret_line[n] = '\0';
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return true;
}

/* Finds the PMUs of a kind. The PMU with the lowest number is the event's PMU; the others become
 * further types. */
int events_uncore_find(const char *root, const char *kind,
		       char ret_first[EVENTS_SYSFS_WORD_MAX], struct event_request *e)
{
	DIR *dir = tree_open(root);
	const struct dirent *entry;
	long least = -1;
	uint32_t first_type = 0;

	e->nr_more_types = 0;
	while (dir && (entry = tree_next(dir))) {
		long number = instance_number(entry->d_name, kind);
		char line[LINE_BYTES];
		uint64_t type;

		if (number < 0 || strlen(entry->d_name) >= EVENTS_SYSFS_WORD_MAX ||
		    !file_line(root, entry->d_name, "type", line) ||
		    !parse_u64_max(line, UINT32_MAX, &type))
			continue;
		if (least >= 0 && e->nr_more_types == EVENT_MORE_TYPES_MAX)
			break;
		if (least < 0 || number < least) {
			if (least >= 0)
				e->more_types[e->nr_more_types++] = first_type;
			least = number;
			first_type = (uint32_t)type;
			(void)snprintf(ret_first, EVENTS_SYSFS_WORD_MAX, "%.63s",
				       entry->d_name);
		} else {
			e->more_types[e->nr_more_types++] = (uint32_t)type;
		}
	}
	if (dir)
		(void)closedir(dir);
	return least < 0 ? -ENOENT : 0;
}

/* Parses a number such as "6.103515625e-5". Returns false if it is not a number. The kernel always
 * uses the C locale. */
static bool read_scale(char *text, double *ret_scale)
{
	char *e = strpbrk(text, "eE");
	bool small = e && e[1] == '-';
	uint64_t power = 0;
	double scale;

	if (e) {
		*e++ = '\0';
		if (!parse_u64_max(e + (*e == '-' || *e == '+'), 100, &power))
			return false;
	}
	if (!parse_double(text, &scale))
		return false;
	while (power--)
		scale = small ? scale / 10 : scale * 10;
	*ret_scale = scale;
	return true;
}

void events_uncore_describe(const char *root, const char *pmu, const char *event,
			    struct event_request *e)
{
	char line[LINE_BYTES];
	char file[2 * EVENTS_SYSFS_WORD_MAX];

	if (file_line(root, pmu, "cpumask", line))
		(void)snprintf(e->cpus, sizeof(e->cpus), "%s", line);
	if (strpbrk(event, "=,") || strlen(event) >= EVENTS_SYSFS_WORD_MAX)
		return;
	(void)snprintf(file, sizeof(file), "events/%s.scale", event);
	if (!file_line(root, pmu, file, line) || !read_scale(line, &e->scale))
		return;
	(void)snprintf(file, sizeof(file), "events/%s.unit", event);
	if (file_line(root, pmu, file, line))
		(void)snprintf(e->unit, sizeof(e->unit), "%.15s", line);
}
