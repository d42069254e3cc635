#include "present/ratio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "present/columns.h"
#include "present/lines.h"

enum {
	NAME_BYTES = 256
};

static bool is_event(const struct profile *p, const struct profile_event *e,
		     const char *text, size_t len)
{
	const char *name = strtab_get(&p->strings, e->name);
	char full[NAME_BYTES];

	if (strlen(name) == len && !memcmp(name, text, len))
		return true;
	(void)snprintf(full, sizeof(full), "%s:0x%" PRIx64, name, e->unit_mask);
	return strlen(full) == len && !memcmp(full, text, len);
}

static bool profile_has(const struct profile *p, const char *text, size_t len)
{
	for (size_t i = 0; i < p->events.nr; i++)
		if (is_event(p, &p->events.at[i], text, len))
			return true;
	return false;
}

/* The slash between the two: names of events may have slashes, too. */
static const char *find_slash(const struct profile *p, const char *text)
{
	for (const char *at = strchr(text, '/'); at; at = strchr(at + 1, '/'))
		if (profile_has(p, text, (size_t)(at - text)) &&
		    profile_has(p, at + 1, strlen(at + 1)))
			return at;
	return NULL;
}

int ratio_check(const struct profile *p, const char *text, struct err *err)
{
	char names[NAME_BYTES] = "";

	if (find_slash(p, text))
		return 0;
	for (size_t i = 0; i < p->events.nr; i++) {
		size_t len = strlen(names);

		(void)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
			       strtab_get(&p->strings, p->events.at[i].name));
	}
	return err_set(err, -ENOENT,
		       "--ratio %s: expected EVENT/EVENT of what was recorded: %s",
		       text, names);
}

static int find_column(const struct profile *p, const struct lines *lines,
		       const char *text, size_t len, size_t *ret_column)
{
	for (size_t i = 0; i < lines->nr_columns; i++) {
		uint32_t event = lines->classes.columns.at[i].event;

		if (is_event(p, &p->events.at[event], text, len)) {
			*ret_column = i;
			return 0;
		}
	}
	return -ENOENT;
}

int ratio_find(const struct profile *p, const struct lines *lines, const char *text,
	       struct ratio *ret_ratio)
{
	const char *slash = find_slash(p, text);
	struct ratio ratio;

	if (!slash || lines->classes.axis != CLASS_EVENT ||
	    find_column(p, lines, text, (size_t)(slash - text), &ratio.above) ||
	    find_column(p, lines, slash + 1, strlen(slash + 1), &ratio.below))
		return -ENOENT;
	*ret_ratio = ratio;
	return 0;
}

void ratio_print(struct buf *out, const struct column_cell *c)
{
	const struct ratio *r = &c->ratios[c->at];
	char text[32];

	if (!c->periods || !c->periods[r->below]) {
		buf_put_u8(out, '-');
		return;
	}
	(void)snprintf(text, sizeof(text), "%.4g",
		       (double)c->periods[r->above] / (double)c->periods[r->below]);
	buf_put(out, text, strlen(text));
}
