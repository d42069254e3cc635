#include "capture/event_catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "capture/cpu_types.h"
#include "capture/event_catalog_priv.h"
#include "capture/event_counters.h"

enum {
	NAME_MAX_BYTES = 128,
	MASKS_MAX = 256,   /* bytes of names joined by + */
	MIN_CYCLES = 6000, /* OProfile's least counts */
	MIN_OTHER = 500
};

uint32_t event_min_count(const char *name)
{
	static const char *const quick[] = { "cyc",  "clk", "inst", "uop",
					     "slot", "ops", "clock" };

	for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
		if (strcasestr(name, quick[i]))
			return MIN_CYCLES;
	return MIN_OTHER;
}

int event_catalog_add(struct event_catalog *c, const struct catalog_event *event)
{
	struct catalog_event e = *event;

	e.first_mask = c->masks.nr;
	e.nr_masks = 0;
	return vec_push(&c->events, e) ? 0 : -ENOMEM;
}

static int by_name(const void *left, const void *right)
{
	const struct catalog_event *a = left;
	const struct catalog_event *b = right;
	int order = strcasecmp(a->name, b->name);

	if (order)
		return order;
	if (a->from_pfm != b->from_pfm)
		return a->from_pfm ? -1 : 1;
	return a->first_mask < b->first_mask ? -1 : a->first_mask > b->first_mask;
}

/* A CPU's own list stands before that of its architecture: its rows are the ones to keep. */
void event_catalog_sort(struct event_catalog *c)
{
	size_t nr = 0;

	if (c->events.nr)
		qsort(c->events.at, c->events.nr, sizeof(c->events.at[0]), by_name);
	for (size_t i = 0; i < c->events.nr; i++) {
		const struct catalog_event *e = &c->events.at[i];

		if (nr && !e->from_pfm && !c->events.at[nr - 1].from_pfm &&
		    !strcasecmp(c->events.at[nr - 1].name, e->name))
			continue;
		c->events.at[nr++] = *e;
	}
	c->events.nr = nr;
}

static int add_list(struct event_catalog *c, const char *name, struct err *err)
{
	const char *text = name ? event_list_text(name) : NULL;

	return text ? event_list_add(c, name, text, err) : 0;
}

int event_catalog_open(const struct cpu_type *cpu, struct event_catalog **ret_catalog,
		       struct err *err)
{
	struct event_catalog *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	c->cpu = cpu;
	r = cpu->pfm ? event_pfm_add(c, cpu->pfm) : 0;
	if (r == -EOPNOTSUPP || r == -ENOENT)
		r = 0; /* the lists may have them */
	if (!r)
		r = add_list(c, cpu->list, err);
	if (!r)
		r = add_list(c, cpu->common, err);
	if (!r && !c->events.nr)
		r = err_set(err, -ENODATA,
			    "no list of events of the CPU type %s (%s)%s", cpu->name,
			    cpu->title,
			    cpu->pfm ? " without libpfm4: install libpfm4" : "");
	if (r) {
		event_catalog_close(c);
		return r;
	}
	/* libpfm4 counts those, too, that a hyperthread has only where it is alone. */
	if (cpu->nr_counters)
		c->nr_counters = cpu->nr_counters;
	event_catalog_sort(c);
	*ret_catalog = c;
	return 0;
}

void event_catalog_close(struct event_catalog *c)
{
	if (!c)
		return;
	vec_done(&c->events);
	vec_done(&c->masks);
	for (size_t i = 0; i < c->texts.nr; i++)
		free(c->texts.at[i]);
	vec_done(&c->texts);
	event_pfm_close(c->pfm);
	free(c);
}

static size_t first_of(const struct event_catalog *c, const char *name)
{
	size_t low = 0;
	size_t high = c->events.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcasecmp(c->events.at[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct catalog_event *event_catalog_find(const struct event_catalog *c,
					       const char *name,
					       const struct catalog_event *from)
{
	size_t i = from ? (size_t)(from - c->events.at) + 1 : first_of(c, name);

	if (i < c->events.nr && !strcasecmp(c->events.at[i].name, name))
		return &c->events.at[i];
	return NULL;
}

const struct catalog_mask *event_catalog_mask(const struct event_catalog *c,
					      const struct catalog_event *event,
					      size_t i)
{
	return i < event->nr_masks ? &c->masks.at[event->first_mask + i] : NULL;
}

static const struct catalog_mask *mask_named(const struct event_catalog *c,
					     const struct catalog_event *e,
					     const char *name, size_t len)
{
	const struct catalog_mask *mask;

	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++)
		if (strlen(mask->name) == len && !strncasecmp(mask->name, name, len))
			return mask;
	return NULL;
}

bool event_catalog_has_mask(const struct event_catalog *c, const char *event,
			    const char *mask)
{
	const struct catalog_event *e = NULL;

	while ((e = event_catalog_find(c, event, e)))
		if (mask_named(c, e, mask, strlen(mask)))
			return true;
	return false;
}

void event_catalog_nearest(const struct event_catalog *c, struct nearest *near)
{
	for (size_t i = 0; i < c->events.nr; i++)
		nearest_try(near, c->events.at[i].name);
}

static const struct catalog_mask *default_mask(const struct event_catalog *c,
					       const struct catalog_event *e)
{
	const struct catalog_mask *mask;

	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++)
		if (mask->is_default)
			return mask;
	return e->nr_masks == 1 && !e->whole ? event_catalog_mask(c, e, 0) : NULL;
}

uint64_t event_catalog_default_mask(const struct event_catalog *c,
				    const struct catalog_event *e)
{
	const struct catalog_mask *mask = default_mask(c, e);

	return mask ? mask->value : 0;
}

/* ---- counters ---- */

/* libpfm4 does not tell them: the vendor's list of the same event does. */
static uint64_t listed_counters(const struct event_catalog *c,
				const struct catalog_event *e,
				const struct catalog_mask *mask)
{
	while (e && e->from_pfm)
		e = event_catalog_find(c, e->name, e);
	if (e && mask)
		mask = mask_named(c, e, mask->name, strlen(mask->name));
	if (!e || (!mask && e->nr_masks))
		return 0;
	return mask ? mask->counters : e->counters;
}

static uint64_t counters_with(const struct event_catalog *c,
			      const struct catalog_event *e,
			      const struct catalog_mask *mask)
{
	uint64_t config = e->from_pfm ? e->code : e->config;

	if (mask)
		config = e->from_pfm ? e->code | mask->value << 8 : mask->config;
	return event_counters_of(c->cpu, c->nr_counters, listed_counters(c, e, mask),
				 config);
}

uint64_t event_catalog_counters(const struct event_catalog *c,
				const struct catalog_event *e,
				const struct catalog_mask *mask)
{
	uint64_t all = 0;

	if (mask || !e->nr_masks)
		return counters_with(c, e, mask);
	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++) {
		uint64_t one = counters_with(c, e, mask);

		if (!one)
			return 0;
		all |= one;
	}
	return all;
}

/* ---- from the text of a mask to config words ---- */

struct joined {
	char names[MASKS_MAX]; /* as libpfm takes them: ":A:B" */
	uint64_t value;
	uint64_t config;
	uint64_t config1;
	uint64_t counters; /* of all masks */
	size_t nr;
	bool precise;
};

/* The event's code, and all that is no unit mask. */
static const uint64_t not_mask = ~(uint64_t)0xff00;

static int join(const struct event_catalog *c, const struct catalog_event *e,
		const struct catalog_mask *mask, struct joined *j, struct err *err)
{
	uint64_t counters = event_catalog_counters(c, e, mask);
	size_t len = strlen(j->names);
	bool same = !j->nr || e->from_pfm ||
		    ((j->config & not_mask) == (mask->config & not_mask) &&
		     j->config1 == mask->config1);

	if (!same || len + strlen(mask->name) + 2 > sizeof(j->names))
		return err_set(err, -EINVAL,
			       "The unit masks of %s cannot be counted together: %s",
			       e->name, mask->name);
	(void)snprintf(j->names + len, sizeof(j->names) - len, ":%s", mask->name);
	j->value |= mask->value;
	j->config |= mask->config;
	j->config1 |= mask->config1;
	j->counters = j->nr ? j->counters & counters : counters;
	j->precise |= mask->precise;
	j->nr++;
	return 0;
}

static int not_unique(const struct catalog_event *e, uint64_t value, const char *one,
		      const char *other, struct err *err)
{
	return err_set(err, -EINVAL,
		       "Unit mask (0x%llx) is non unique. Please specify the unit mask "
		       "of %s by its name: %s, %s ...",
		       (unsigned long long)value, e->name, one, other);
}

/* A number: one mask of that value, else several that make it up. */
static int join_number(const struct event_catalog *c, const struct catalog_event *e,
		       uint64_t value, struct joined *j, struct err *err)
{
	const struct catalog_mask *found = NULL;
	const struct catalog_mask *mask;
	uint64_t left = value;
	int r = 0;

	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++) {
		if (mask->value != value)
			continue;
		/* Two names of one and the same: an older and a newer one. */
		if (found && !e->from_pfm && found->config == mask->config &&
		    found->config1 == mask->config1)
			continue;
		if (found)
			return not_unique(e, value, found->name, mask->name, err);
		found = mask;
	}
	if (found)
		return join(c, e, found, j, err);
	for (size_t i = 0; !r && left && (mask = event_catalog_mask(c, e, i)); i++) {
		if (!(mask->value & left) || (mask->value & ~value))
			continue;
		r = join(c, e, mask, j, err);
		left &= ~mask->value;
	}
	if (!r && (left || !value))
		r = err_set(err, -EINVAL, "Invalid unit mask 0x%llx for event %s",
			    (unsigned long long)value, e->name);
	return r;
}

static int join_names(const struct event_catalog *c, const struct catalog_event *e,
		      const char *names, struct joined *j, struct err *err)
{
	int r = 0;

	while (!r) {
		size_t len = strcspn(names, "+");
		const struct catalog_mask *mask = mask_named(c, e, names, len);

		if (!mask) {
			struct nearest near = { .word = names };

			for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++)
				nearest_try(&near, mask->name);
			return err_set(
				err, -EINVAL, "Cannot find unit mask %.*s for %s%s%s%s",
				(int)len, names, e->name,
				near.best ? " (Did you mean " : "",
				near.best ? near.best : "", near.best ? "?)" : "");
		}
		r = join(c, e, mask, j, err);
		if (!names[len])
			break;
		names += len + 1;
	}
	return r;
}

static int needs_mask(const struct event_catalog *c, const struct catalog_event *e,
		      struct err *err)
{
	char names[160] = "";
	const struct catalog_mask *mask;

	for (size_t i = 0; i < 5 && (mask = event_catalog_mask(c, e, i)); i++) {
		size_t len = strlen(names);

		(void)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
			       mask->name);
	}
	return err_set(err, -EINVAL, "Event %s needs a unit mask: %s%s", e->name, names,
		       e->nr_masks > 5 ? " ..." : "");
}

static int collect(const struct event_catalog *c, const struct catalog_event *e,
		   const char *text, struct joined *j, struct err *err)
{
	const struct catalog_mask *mask = default_mask(c, e);
	uint64_t value;

	if (parse_u64(text, &value)) {
		if (value || (e->nr_masks && !mask && !e->whole))
			return join_number(c, e, value, j, err);
		return mask ? join(c, e, mask, j, err) : 0;
	}
	if (*text)
		return join_names(c, e, text, j, err);
	if (mask)
		return join(c, e, mask, j, err);
	return e->nr_masks && !e->whole && !e->from_pfm ? needs_mask(c, e, err) : 0;
}

static int choose(const struct event_catalog *c, const struct catalog_event *e,
		  const char *text, struct catalog_choice *ret_choice, struct err *err)
{
	struct joined j = { 0 };
	uint64_t config[3] = { e->config, e->config1, 0 };
	char full[NAME_MAX_BYTES + MASKS_MAX];
	int r = collect(c, e, text, &j, err);

	if (r)
		return r;
	if (e->from_pfm) {
		(void)snprintf(full, sizeof(full), "%s%s", e->name, j.names);
		r = event_pfm_encode(c->pfm, c->cpu->pfm, full, config, err);
		if (r)
			return e->nr_masks && !j.nr ? needs_mask(c, e, err) : r;
	} else if (j.nr) {
		config[0] = j.config;
		config[1] = j.config1;
	}
	*ret_choice = (struct catalog_choice){
		.event = e,
		.config = config[0],
		.config1 = config[1],
		.config2 = config[2],
		.unit_mask = j.nr ? j.value : 0,
		.counters = j.nr ? j.counters : event_catalog_counters(c, e, NULL),
		.precise = j.nr ? j.precise : e->precise,
	};
	return 0;
}

/* The sources in turn.  A mask by name is the vendor's where his list has it: libpfm4 has errors
 * that newer lists have mended. */
static int choose_named(const struct event_catalog *c, const char *name,
			const char *text, struct catalog_choice *ret_choice,
			struct err *err)
{
	const struct catalog_event *e = NULL;
	bool by_name = *text && (*text < '0' || *text > '9' || strpbrk(text, "_"));
	int r = -ENOENT;

	while ((r || by_name) && (e = event_catalog_find(c, name, e))) {
		struct err why = { 0 };
		int result = choose(c, e, text, ret_choice, &why);

		if (!result)
			r = 0;
		else if (r == -ENOENT) /* the first source's line is the better one */
			r = err_set(err, result, "%s", why.text);
	}
	return r;
}

static int choose_dotted(const struct event_catalog *c, const char *name,
			 const char *masks, struct catalog_choice *ret_choice,
			 struct err *err)
{
	const char *text = masks ? masks : "";
	const char *dot = strchr(name, '.');
	char base[NAME_MAX_BYTES];
	char mask[NAME_MAX_BYTES];
	int r = choose_named(c, name, text, ret_choice, err);

	if (r != -ENOENT || !dot || *text || strlen(name) >= sizeof(base))
		return r;
	(void)snprintf(base, sizeof(base), "%.*s", (int)(dot - name), name);
	(void)snprintf(mask, sizeof(mask), "%s", dot + 1);
	for (char *at = mask; *at; at++)
		if (*at == '.')
			*at = '_';
	return choose_named(c, base, mask, ret_choice, err);
}

/* A classic name stands for what the first alias says that this CPU has.  Where the event itself
 * is there, but only with masks, the alias says which. */
int event_catalog_choose(const struct event_catalog *c, const char *name,
			 const char *masks, struct catalog_choice *ret_choice,
			 struct err *err)
{
	struct err why = { 0 };
	int r = choose_dotted(c, name, masks, ret_choice, &why);
	bool no_mask =
		!masks || !*masks || !strcmp(masks, "0") || !strcmp(masks, "0x0");
	const char *is;

	if (!r)
		return 0;
	if (r != -ENOENT && !no_mask)
		return err_set(err, r, "%s", why.text);
	for (size_t i = 0; (is = cpu_type_classic(c->cpu, name, i)); i++) {
		int result = !strcasecmp(is, name)
				     ? -ENOENT
				     : choose_dotted(c, is, no_mask ? NULL : masks,
						     ret_choice, &why);

		if (!result)
			return 0;
		if (r == -ENOENT)
			r = result;
	}
	return r == -ENOENT ? r : err_set(err, r, "%s", why.text);
}
