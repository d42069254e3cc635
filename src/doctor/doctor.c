/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "doctor/doctor_priv.h"

enum {
	SMALL_FILE_MAX = 1 << 16,
	PERFMON = 38 /* CAP_PERFMON, missing in older headers */
};

static __attribute__((format(printf, 2, 0))) char *
doctor_text(struct doctor *d, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) >= 0)
		return text;
	d->no_memory = true;
	return NULL;
}

void doctor_add(struct doctor *d, const char *group, const char *name,
		enum doctor_state state, const char *format, ...)
{
	struct doctor_check c = { .group = group, .name = name, .state = state };
	va_list args;

	va_start(args, format);
	c.found = doctor_text(d, format, args);
	va_end(args);
	if (!vec_push(&d->checks, c)) {
		free(c.found);
		d->no_memory = true;
	}
}

/* Returns the last check, or NULL if that check found no limit. */
static struct doctor_check *doctor_limit(struct doctor *d)
{
	struct doctor_check *c = d->checks.nr ? &d->checks.at[d->checks.nr - 1] : NULL;

	return c && c->state != DOCTOR_OK ? c : NULL;
}

void doctor_cost(struct doctor *d, const char *format, ...)
{
	struct doctor_check *c = doctor_limit(d);
	va_list args;

	if (!c)
		return;
	va_start(args, format);
	free(c->cost);
	c->cost = doctor_text(d, format, args);
	va_end(args);
}

void doctor_fix(struct doctor *d, const char *format, ...)
{
	struct doctor_check *c = doctor_limit(d);
	va_list args;

	if (!c)
		return;
	va_start(args, format);
	free(c->fix);
	c->fix = doctor_text(d, format, args);
	va_end(args);
}

const char *doctor_path(const struct doctor *d, const char *path,
			char ret_path[DOCTOR_PATH_MAX])
{
	(void)snprintf(ret_path, DOCTOR_PATH_MAX, "%s%s", d->root, path);
	return ret_path;
}

bool doctor_access(const struct doctor *d, const char *path, int mode)
{
	char full[DOCTOR_PATH_MAX];

	return !access(doctor_path(d, path, full), mode);
}

/* Reads a small file as a string. Returns false if it is not readable. The caller calls buf_done()
 * in either case. */
static bool doctor_read(const struct doctor *d, const char *path, struct buf *out)
{
	char full[DOCTOR_PATH_MAX];

	if (io_read_file(doctor_path(d, path, full), out, SMALL_FILE_MAX))
		return false;
	while (out->len && out->data[out->len - 1] == '\n')
		out->len--;
	buf_put_u8(out, 0);
	return !out->failed;
}

bool doctor_number(const struct doctor *d, const char *path, int64_t *ret_v)
{
	struct buf text = { 0 };
	bool ok = doctor_read(d, path, &text);
	const char *digits = ok ? (const char *)text.data : "";
	bool negative = *digits == '-';
	uint64_t v;

	ok = ok && parse_u64_max(digits + negative, INT64_MAX, &v);
	if (ok)
		*ret_v = negative ? -(int64_t)v : (int64_t)v;
	buf_done(&text);
	return ok;
}

bool doctor_status_field(const struct doctor *d, const char *name, int base,
			 uint64_t *ret_v)
{
	struct buf text = { 0 };
	char start[64];
	const char *at = NULL;
	bool ok = doctor_read(d, "/proc/self/status", &text);

	(void)snprintf(start, sizeof(start), "\n%s:\t", name);
	if (ok)
		at = strstr((const char *)text.data, start);
	ok = at;
	if (at) {
		char digits[32];

		at += strlen(start);
		(void)snprintf(digits, sizeof(digits), "%.*s",
			       (int)strcspn(at, " \t\n"), at);
		at = digits;
		ok = base == 16 ? parse_hex_at(&at, ret_v) && !*at
				: parse_u64(digits, ret_v);
	}
	buf_done(&text);
	return ok;
}

bool doctor_has_capability(const struct doctor *d, unsigned int number)
{
	uint64_t effective;

	return doctor_status_field(d, "CapEff", 16, &effective) &&
	       effective >> number & 1;
}

bool doctor_is_privileged(const struct doctor *d)
{
	return doctor_has_capability(d, CAP_SYS_ADMIN) ||
	       doctor_has_capability(d, PERFMON);
}

const struct doctor_check *doctor_find(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < d->checks.nr; i++) {
		if (!strcmp(d->checks.at[i].name, name))
			return &d->checks.at[i];
	}
	return NULL;
}

void doctor_done(struct doctor *d)
{
	for (size_t i = 0; i < d->checks.nr; i++) {
		free(d->checks.at[i].found);
		free(d->checks.at[i].cost);
		free(d->checks.at[i].fix);
	}
	vec_done(&d->checks);
}
