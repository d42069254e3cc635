/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose.c - encodes an event with its unit masks as config words. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/containers/closest_match.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/catalog.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/classic.h"
#include "capture/events/cpu_types.h"

enum {
	NAME_MAX_BYTES = 256,
	MASKS_MAX = 256 /* bytes of names joined by + */
};

/* The catalogue, and the event's name as the user typed it, for messages. */
struct event_chooser {
	const struct event_catalog *c;
	const char *typed;
};

struct joined {
	char names[MASKS_MAX]; /* in libpfm's syntax: ":A:B" */
	uint64_t value;
	uint64_t config;
	uint64_t config1;
	uint64_t counters; /* counters that can count all these masks */
	const struct catalog_mask *first;
	size_t nr;
	bool precise;
};

/* Bits of a config word except the unit mask. */
static const uint64_t not_mask = ~(uint64_t)0xff00;

static int event_choose_join(const struct event_chooser *k,
			     const struct catalog_event *e,
			     const struct catalog_mask *mask, struct joined *j,
			     struct err *err)
{
	uint64_t counters = event_catalog_counters(k->c, e, mask);
	size_t len = strlen(j->names);
	bool same = !j->nr || e->from_pfm ||
		    ((j->config & not_mask) == (mask->config & not_mask) &&
		     j->config1 == mask->config1);

	if (!same || len + strlen(mask->name) + 2 > sizeof(j->names))
		return err_set(err, -EINVAL,
			       "The unit masks of %s cannot be counted together: %s",
			       k->typed, mask->name);
	(void)snprintf(j->names + len, sizeof(j->names) - len, ":%s", mask->name);
	j->value |= mask->value;
	j->config |= mask->config;
	j->config1 |= mask->config1;
	j->counters = j->nr ? j->counters & counters : counters;
	j->precise |= mask->precise;
	j->first = j->nr ? j->first : mask;
	j->nr++;
	return 0;
}

/* ---- lists of valid masks, for messages ---- */

enum {
	/* bytes of a list, so that the rest of the message fits into an err */
	LISTED_MASKS_MAX = 330
};

/* Returns whether `mask` of `e` was already listed for an earlier source of the event: that source
 * has a mask with this name or, if the mask has no name, with this value. */
static bool listed_before(const struct event_chooser *k, const struct catalog_event *e,
			  const struct catalog_mask *mask)
{
	const struct catalog_event *other = NULL;
	const struct catalog_mask *same;

	while ((other = event_catalog_find(k->c, e->name, other)) && other != e) {
		if (event_mask_named(k->c, other, mask->name, mask->name_len))
			return true;
		for (size_t i = 0; (same = event_catalog_mask(k->c, other, i)); i++)
			if (!*mask->name && same->value == mask->value)
				return true;
	}
	return false;
}

/* Formats the masks of all sources of the event, such as "0x01 ANY_P, 0x02 X87", and the number of
 * masks that do not fit. */
static void list_masks(const struct event_chooser *k, const char *event,
		       char ret_text[LISTED_MASKS_MAX + 80])
{
	const struct catalog_event *e = NULL;
	const struct catalog_mask *mask;
	size_t len = 0, left = 0;

	ret_text[0] = '\0';
	while ((e = event_catalog_find(k->c, event, e)))
		for (size_t i = 0; (mask = event_catalog_mask(k->c, e, i)); i++) {
			if (listed_before(k, e, mask))
				continue;
			if (left || len + strlen(mask->name) + 24 > LISTED_MASKS_MAX) {
				left++;
				continue;
			}
			len += (size_t)snprintf(ret_text + len, LISTED_MASKS_MAX - len,
						"%s0x%02llx%s%s", len ? ", " : "",
						(unsigned long long)mask->value,
						*mask->name ? " " : "", mask->name);
		}
	if (left)
		(void)snprintf(ret_text + len, 80,
			       " and %zu more (ophelp --search lists them)", left);
}

static int no_such_mask(const struct event_chooser *k, const struct catalog_event *e,
			const char *name, size_t len, struct err *err)
{
	char there[LISTED_MASKS_MAX + 80];
	char text[CLOSEST_TEXT_MAX];
	struct closest_matches near;
	const struct catalog_mask *mask;

	if (!err)
		return -EINVAL;
	closest_matches_init(&near, name, len);
	for (size_t i = 0; (mask = event_catalog_mask(k->c, e, i)); i++)
		closest_matches_try(&near, mask->name);
	closest_matches_text(&near, text);
	list_masks(k, e->name, there);
	return err_set(err, -EINVAL, "Cannot find unit mask %.*s for %s%s%s%s",
		       (int)len, name, k->typed, text,
		       *there ? ". Its unit masks: " : ": it has none", there);
}

static int no_such_number(const struct event_chooser *k, const struct catalog_event *e,
			  uint64_t value, struct err *err)
{
	char there[LISTED_MASKS_MAX + 80];

	if (!err)
		return -EINVAL;
	list_masks(k, e->name, there);
	return err_set(err, -EINVAL, "Invalid unit mask 0x%llx for event %s%s%s",
		       (unsigned long long)value, k->typed,
		       *there ? ". Its unit masks: " : ": it has none", there);
}

static int needs_mask(const struct event_chooser *k, const struct catalog_event *e,
		      struct err *err)
{
	char there[LISTED_MASKS_MAX + 80];

	if (!err)
		return -EINVAL;
	list_masks(k, e->name, there);
	return err_set(err, -EINVAL, "Event %s needs a unit mask: %s", k->typed, there);
}

/* ---- masks by name ---- */

static int join_names(const struct event_chooser *k, const struct catalog_event *e,
		      const char *names, struct joined *j, struct err *err)
{
	int r = 0;

	while (!r) {
		size_t len = strcspn(names, "+");
		const struct catalog_mask *mask = event_mask_named(k->c, e, names, len);

		if (!mask)
			return no_such_mask(k, e, names, len, err);
		r = event_choose_join(k, e, mask, j, err);
		if (!names[len])
			break;
		names += len + 1;
	}
	return r;
}

/* Returns whether libpfm must encode the event, because the config words are not known, or because
 * several masks are combined and only libpfm knows which ones can be. */
static bool must_ask_pfm(const struct catalog_event *e, const struct joined *j)
{
	return e->from_pfm && !(j->nr ? j->nr == 1 && j->first->known : e->known);
}

/* Encodes the event of one source with the masks that are joined in `j`. */
static int event_choose_encode(const struct event_chooser *k,
			       const struct catalog_event *e, const struct joined *j,
			       struct catalog_choice *ret_choice, struct err *err)
{
	uint64_t config[3] = { e->config, e->config1, 0 };
	char full[NAME_MAX_BYTES + MASKS_MAX];
	int r;

	if (e->refused && !j->nr)
		return needs_mask(k, e, err);
	if (must_ask_pfm(e, j)) {
		(void)snprintf(full, sizeof(full), "%s%s", e->name, j->names);
		r = event_pfm_encode(k->c->pfm, k->c->cpu->pfm, full, config, err);
		if (r)
			return e->nr_masks && !j->nr ? needs_mask(k, e, err) : r;
	} else if (j->nr) {
		config[0] = j->config;
		config[1] = j->config1;
	}
	*ret_choice = (struct catalog_choice){
		.event = e,
		.config = config[0],
		.config1 = config[1],
		.config2 = config[2],
		.unit_mask = j->nr ? j->value : 0,
		.counters = j->nr ? j->counters : event_catalog_counters(k->c, e, NULL),
		.precise = j->nr ? j->precise : e->precise,
		.mask = j->nr == 1 ? j->first : NULL,
	};
	return 0;
}

/* Encodes the event with the masks `names`. If several sources have them, uses the last one, which
 * is the vendor's list: newer lists have fixed errors of libpfm4. */
static int event_choose_names(const struct event_chooser *k, const char *name,
			      const char *names, struct catalog_choice *ret_choice,
			      struct err *err)
{
	const struct catalog_event *e = NULL;
	int r = -ENOENT;

	/* Classic rows do not say which masks can be combined, so do not combine their masks after
	 * another source refused to. */
	while ((e = event_catalog_find(k->c, name, e)) &&
	       (!e->classic || (r && (r == -ENOENT || !strchr(names, '+'))))) {
		struct joined j = { 0 };
		struct err why = { 0 };
		struct err *ret_why = err ? &why : NULL;
		int result = join_names(k, e, names, &j, ret_why);

		if (!result)
			result = event_choose_encode(k, e, &j, ret_choice, ret_why);
		if (!result)
			r = 0;
		else if (r == -ENOENT) /* the message of the first source is better */
			r = err_set(err, result, "%s", why.text);
	}
	return r;
}

/* ---- masks by number ---- */

/* Mask names joined by +, and their combined value. */
struct picked {
	char names[MASKS_MAX];
	uint64_t value;
};

static int pick(const struct event_chooser *k, const struct catalog_mask *mask,
		struct picked *p, struct err *err)
{
	size_t len = strlen(p->names);

	if (len + strlen(mask->name) + 2 > sizeof(p->names))
		return err_set(err, -EINVAL,
			       "The unit masks of %s cannot be counted together: %s",
			       k->typed, mask->name);
	(void)snprintf(p->names + len, sizeof(p->names) - len, "%s%s", len ? "+" : "",
		       mask->name);
	p->value |= mask->value;
	return 0;
}

/* Returns true if two names mean the same mask, for example an old and a new name. */
static bool count_the_same(const struct event_chooser *k, const struct catalog_event *e,
			   const struct catalog_mask *one,
			   const struct catalog_mask *other)
{
	struct catalog_choice a = { 0 }, b = { 0 };

	return !event_choose_names(k, e->name, one->name, &a, NULL) &&
	       !event_choose_names(k, e->name, other->name, &b, NULL) &&
	       a.config == b.config && a.config1 == b.config1 && a.config2 == b.config2;
}

/* Returns whether the mask sets only the unit mask bits, and no threshold or additional register.
 * For libpfm4, the value itself contains those, so its masks count as plain. */
static bool event_choose_is_plain(const struct catalog_event *e,
				  const struct catalog_mask *mask)
{
	return e->from_pfm ||
	       (!mask->config1 && mask->config == (e->code | mask->value << 8));
}

/* Finds the mask with this value; a plain one is preferred. Returns 0 (with *ret_mask NULL if no
 * mask has the value), or -EINVAL with a message if several different masks have it. */
static int mask_of_number(const struct event_chooser *k, const struct catalog_event *e,
			  uint64_t value, const struct catalog_mask **ret_mask,
			  struct err *err)
{
	const struct catalog_mask *found = NULL;
	const struct catalog_mask *mask;
	bool plain = false;

	for (size_t i = 0; (mask = event_catalog_mask(k->c, e, i)); i++)
		plain |= mask->value == value && event_choose_is_plain(e, mask);
	for (size_t i = 0; (mask = event_catalog_mask(k->c, e, i)); i++) {
		if (mask->value != value || (plain && !event_choose_is_plain(e, mask)))
			continue;
		if (found && !count_the_same(k, e, found, mask))
			return err_set(
				err, -EINVAL,
				"Unit mask (0x%llx) is non unique. "
				"Please specify the unit mask of %s by its name: "
				"%s, %s ...",
				(unsigned long long)value, k->typed, found->name,
				mask->name);
		if (!found)
			found = mask;
	}
	*ret_mask = found;
	return 0;
}

/* Adds to `p` the mask with this value, or else several masks whose bits together are the value. */
static int pick_number(const struct event_chooser *k, const struct catalog_event *e,
		       uint64_t value, struct picked *p, struct err *err)
{
	const struct catalog_mask *mask = NULL;
	uint64_t left = value;
	int r = mask_of_number(k, e, value, &mask, err);

	if (r)
		return r;
	if (mask)
		return pick(k, mask, p, err);
	for (size_t i = 0; !r && left && (mask = event_catalog_mask(k->c, e, i)); i++) {
		if (!(mask->value & left) || (mask->value & ~value))
			continue;
		r = pick(k, mask, p, err);
		left &= ~mask->value;
	}
	return r || (!left && value) ? r : no_such_number(k, e, value, err);
}

/* Adds to `p` the masks that the number `text` selects. The number 0 selects the mask with value 0
 * if the event has one, and otherwise the default mask. */
static int pick_masks(const struct event_chooser *k, const struct catalog_event *e,
		      const char *text, struct picked *p, struct err *err)
{
	const struct catalog_mask *mask = event_mask_default(k->c, e);
	const struct catalog_mask *zero = NULL;
	uint64_t value = 0;

	if (*text && parse_u64(text, &value)) {
		if (value || (e->nr_masks && !mask && !e->whole))
			return pick_number(k, e, value, p, err);
		if (mask && !mask_of_number(k, e, 0, &zero, NULL) && zero)
			mask = zero;
	}
	if (mask)
		return pick(k, mask, p, err);
	return !*text && e->nr_masks && !e->whole && !e->from_pfm
		       ? needs_mask(k, e, err)
		       : 0;
}

/* ---- classic rows ---- */

static const struct catalog_mask *classic_mask(const struct event_chooser *k,
					       const struct catalog_event *e,
					       uint64_t value)
{
	const struct catalog_mask *mask;

	for (size_t i = 0; (mask = event_catalog_mask(k->c, e, i)); i++)
		if (mask->value == value)
			return mask;
	return NULL;
}

/* Adds to `j` the mask with this value, or else all masks whose bits together are the value. */
static int classic_join(const struct event_chooser *k, const struct catalog_event *e,
			uint64_t value, struct joined *j, struct err *err)
{
	const struct catalog_mask *mask = classic_mask(k, e, value);
	uint64_t left = value;
	int r = 0;

	if (mask)
		return event_choose_join(k, e, mask, j, err);
	for (size_t i = 0; !r && left && (mask = event_catalog_mask(k->c, e, i)); i++) {
		if (!(mask->value & left) || (mask->value & ~value))
			continue;
		r = event_choose_join(k, e, mask, j, err);
		left &= ~mask->value;
	}
	return r || (!left && value) ? r : no_such_number(k, e, value, err);
}

/* Encodes the classic event `e` as OProfile does. `text` is the number of a mask, or "" for the
 * default mask; "0" also means the default if no mask has the value 0. */
static int choose_classic(const struct event_chooser *k, const struct catalog_event *e,
			  const char *text, struct catalog_choice *ret_choice,
			  struct err *err)
{
	const struct catalog_mask *first = event_mask_default(k->c, e);
	struct joined j = { 0 };
	uint64_t value = 0;
	bool given = parse_u64(text, &value) && (value || classic_mask(k, e, 0));
	int r = 0;

	if (!given && e->default_name)
		return event_choose_names(k, e->name, e->default_name, ret_choice, err);
	if (given)
		r = classic_join(k, e, value, &j, err);
	else if (first)
		r = event_choose_join(k, e, first, &j, err);
	return r ? r : event_choose_encode(k, e, &j, ret_choice, err);
}

/* Encodes event `e` with masks that are given by number. The number selects masks of this source,
 * whose names are then encoded, so a number and the name of the same mask give the same result. */
static int choose_number(const struct event_chooser *k, const struct catalog_event *e,
			 const char *text, struct catalog_choice *ret_choice,
			 struct err *err)
{
	const struct joined none = { 0 };
	struct picked p = { 0 };
	int r;

	if (e->classic)
		return choose_classic(k, e, text, ret_choice, err);
	r = pick_masks(k, e, text, &p, err);
	if (r)
		return r;
	if (!*p.names)
		return event_choose_encode(k, e, &none, ret_choice, err);
	r = event_choose_names(k, e->name, p.names, ret_choice, err);
	if (!r)
		ret_choice->unit_mask = p.value;
	return r;
}

/* Encodes the event `name` with the masks `text`, from the first source that can. */
static int choose_named(const struct event_chooser *k, const char *name,
			const char *text, struct catalog_choice *ret_choice,
			struct err *err)
{
	const struct catalog_event *e = NULL;
	uint64_t value;
	int r = -ENOENT;

	if (*text && !parse_u64(text, &value))
		return event_choose_names(k, name, text, ret_choice, err);
	while (r && (e = event_catalog_find(k->c, name, e))) {
		struct err why = { 0 };
		int result = choose_number(k, e, text, ret_choice, err ? &why : NULL);

		if (!result)
			r = 0;
		else if (r == -ENOENT) /* the message of the first source is better */
			r = err_set(err, result, "%s", why.text);
	}
	return r;
}

static int choose_dotted(const struct event_chooser *k, const char *name,
			 const char *masks, struct catalog_choice *ret_choice,
			 struct err *err)
{
	const char *text = masks ? masks : "";
	const char *dot = strchr(name, '.');
	char base[NAME_MAX_BYTES];
	char mask[NAME_MAX_BYTES];
	int r = choose_named(k, name, text, ret_choice, err);

	if (r != -ENOENT || !dot || *text || strlen(name) >= sizeof(base))
		return r;
	(void)snprintf(base, sizeof(base), "%.*s", (int)(dot - name), name);
	(void)snprintf(mask, sizeof(mask), "%s", dot + 1);
	for (char *at = mask; *at; at++)
		if (*at == '.')
			*at = '_';
	return choose_named(k, base, mask, ret_choice, err);
}

/* Returns whether `masks` is redundant after the name `is`: the mask that the name already
 * contains (EVENT.MASK), its number, or 0. */
static bool are_its_own(const char *is, const char *masks,
			const struct catalog_choice *choice)
{
	const char *dot = strchr(is, '.');
	uint64_t value;

	if (!parse_u64(masks, &value))
		return dot && !strcasecmp(dot + 1, masks);
	return !value || value == choice->unit_mask ||
	       value == (choice->config >> 8 & 0xff);
}

/* Encodes the name `is`, which can contain a mask (EVENT.MASK), with `masks`. Refuses a second
 * mask. */
static int choose_again(const struct event_chooser *k, const char *is,
			const char *masks, struct catalog_choice *ret_choice,
			struct err *err)
{
	int r = choose_dotted(k, is, NULL, ret_choice, err);

	if (r || !masks || !*masks || are_its_own(is, masks, ret_choice))
		return r;
	if (!strchr(is, '.'))
		return choose_dotted(k, is, masks, ret_choice, err);
	return err_set(
		err, -EINVAL,
		"Invalid unit mask %s for event %s: this name already selects the unit mask 0x%llx of %s",
		masks, k->typed, (unsigned long long)ret_choice->unit_mask,
		ret_choice->event->name);
}

/* Encodes the event as typed or, if it does not exist, as the first of its classic aliases
 * (cpu_type_classic()) that this CPU has. If the event exists but requires a mask, uses the mask
 * of the alias. */
static int choose_alias(const struct event_chooser *k, const char *masks,
			struct catalog_choice *ret_choice, struct err *err)
{
	struct err why = { 0 };
	struct err *ret_why = err ? &why : NULL;
	int r = choose_dotted(k, k->typed, masks, ret_choice, ret_why);
	bool no_mask =
		!masks || !*masks || !strcmp(masks, "0") || !strcmp(masks, "0x0");
	const char *is;

	if (!r)
		return 0;
	if (r == -ENOENT)
		r = choose_again(k, k->typed, masks, ret_choice, ret_why);
	if (!r || (r != -ENOENT && !no_mask))
		return r ? err_set(err, r, "%s", why.text) : 0;
	for (size_t i = 0; (is = cpu_type_classic(k->c->cpu, k->typed, i)); i++) {
		struct catalog_choice alias;

		if (!strcasecmp(is, k->typed) ||
		    (choose_dotted(k, is, NULL, &alias, NULL) &&
		     (strchr(is, '.') || choose_dotted(k, is, masks, &alias, NULL))))
			continue; /* this CPU lacks the event or the mask */
		return choose_again(k, is, masks, ret_choice, err);
	}
	return r == -ENOENT ? r : err_set(err, r, "%s", why.text);
}

/* Removes the suffix of OProfile's event names for POWER4 to POWER7, _GRP12, which is the number
 * of a group of events: the kernel has no such groups. Returns the name without it. */
static const char *without_group(const struct event_catalog *c, const char *name,
				 char text[NAME_MAX_BYTES])
{
	const char *group = strrchr(name, '_');
	size_t len = group ? (size_t)(group - name) : 0;

	if (!group || strncmp(group, "_GRP", 4) || len >= NAME_MAX_BYTES ||
	    strncmp(c->cpu->name, "ppc64/", 6) || !group[4] ||
	    group[4 + strspn(group + 4, "0123456789")])
		return name;
	(void)snprintf(text, NAME_MAX_BYTES, "%.*s", (int)len, name);
	return text;
}

/* Finds an event and its unit masks. The names, mask numbers and default masks of OProfile have
 * precedence over those of other sources. */
int event_catalog_choose(const struct event_catalog *c, const char *name,
			 const char *masks, struct catalog_choice *ret_choice,
			 struct err *err)
{
	char text_of_name[NAME_MAX_BYTES];
	const char *plain = without_group(c, name, text_of_name);
	const struct event_chooser k = { .c = c, .typed = plain };
	const struct catalog_event *e = event_classic_find(c, plain);
	const char *text = masks ? masks : "";
	uint64_t value;

	if (e && (!*text || parse_u64(text, &value)) &&
	    !choose_classic(&k, e, text, ret_choice, NULL))
		return 0;
	return choose_alias(&k, masks, ret_choice, err);
}
