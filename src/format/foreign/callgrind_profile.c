/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callgrind_profile.c - files of callgrind and cachegrind (valgrind's manual, "Callgrind Format
 * Specification"). They have costs per line of a function, and costs of calls that include the
 * callees, but no stacks. So for each event, a function becomes one sample, whose period is the
 * cost of the function itself. Callers are unknown. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "format/foreign/callgrind_totals.h"
#include "format/foreign/foreign.h"
#include "format/foreign/head.h"
#include "format/foreign/stack_tree.h"

/* Kinds of names, which are numbered separately: "fn=(12) name" defines the name for a later
 * "fn=(12)". */
enum callgrind_kind {
	CALLGRIND_OBJECT,
	CALLGRIND_FUNCTION,
	CALLGRIND_OTHER
};

struct callgrind_key {
	const char *text;
	enum callgrind_kind kind;
	/* names the target of a call or a jump, not the current function */
	bool is_target;
};

struct callgrind_profile {
	struct stack_tree tree; /* its frames are functions */
	struct map name_by; /* (number in the file, kind): number in the tree's names */
	uint32_t object, function; /* name numbers of the current object and function */
	VEC(uint32_t) events;      /* numbers of names */
	/* The events of the current part, in the order of its costs: indexes of `events`. */
	uint32_t columns[FOREIGN_EVENTS_MAX];
	size_t nr_columns;
	struct callgrind_totals totals;
	VEC(uint64_t) costs;               /* indexed by frame and event */
	uint64_t last[FOREIGN_EVENTS_MAX]; /* the costs of the previous line */
	size_t nr_positions;
	bool after_call; /* the next line is the cost of a call */
	uint32_t command;
	int64_t pid;
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

static const struct callgrind_key callgrind_keys[] = {
	{ "fn", CALLGRIND_FUNCTION, false }, { "ob", CALLGRIND_OBJECT, false },
	{ "cfn", CALLGRIND_FUNCTION, true }, { "cob", CALLGRIND_OBJECT, true },
	{ "fl", CALLGRIND_OTHER, false },    { "fi", CALLGRIND_OTHER, false },
	{ "fe", CALLGRIND_OTHER, false },    { "cfi", CALLGRIND_OTHER, true },
	{ "cfl", CALLGRIND_OTHER, true },    { "jfi", CALLGRIND_OTHER, true },
	{ "jfn", CALLGRIND_FUNCTION, true },
};

static bool callgrind_skip(struct foreign_word *w, const char *text)
{
	const size_t len = strlen(text);

	if (w->len < len || memcmp(w->at, text, len) != 0)
		return false;
	w->at += len;
	w->len -= len;
	return true;
}

static struct foreign_word callgrind_next_word(struct foreign_word *rest)
{
	struct foreign_word w;

	while (rest->len && (*rest->at == ' ' || *rest->at == '\t')) {
		rest->at++;
		rest->len--;
	}
	w = (struct foreign_word){ rest->at, 0 };
	while (w.len < rest->len && w.at[w.len] != ' ' && w.at[w.len] != '\t')
		w.len++;
	rest->at += w.len;
	rest->len -= w.len;
	return w;
}

/* ---- names ---- */

/* Finds the name for "(12) name", "(12)" or "name".  Returns 0 or -ENOMEM. */
static int callgrind_find_name(struct callgrind_profile *c, struct foreign_word text,
			       enum callgrind_kind kind, uint32_t *ret_name)
{
	const char *end =
		text.len && *text.at == '(' ? memchr(text.at, ')', text.len) : NULL;
	struct foreign_word name = text;
	uint64_t number;
	uint32_t found;

	if (!end ||
	    !foreign_number(
		    (struct foreign_word){ text.at + 1, (size_t)(end - text.at) - 1 },
		    &number)) {
		*ret_name = stack_tree_name(&c->tree, text);
		return *ret_name == STRTAB_FAILED ? -ENOMEM : 0;
	}
	name.at = end + 1;
	name.len = text.len - (size_t)(name.at - text.at);
	while (callgrind_skip(&name, " "))
		;
	if (!name.len) {
		found = map_get(&c->name_by, number, kind);
		c->info->skipped += found == MAP_NONE;
		*ret_name = found == MAP_NONE ? 0 : found;
		return 0;
	}
	*ret_name = stack_tree_name(&c->tree, name);
	if (*ret_name == STRTAB_FAILED)
		return -ENOMEM;
	return map_set(&c->name_by, number, kind, *ret_name);
}

/* Parses a line that sets the current name of a kind, such as "fn=...". Returns 0, 1 if the line
 * is not one, or -ENOMEM. */
static int callgrind_take_name(struct callgrind_profile *c, struct foreign_word line)
{
	for (size_t i = 0; i < COUNT_OF(callgrind_keys); i++) {
		const struct callgrind_key *key = &callgrind_keys[i];
		struct foreign_word value = line;
		uint32_t name;
		int r;

		if (!callgrind_skip(&value, key->text) || !callgrind_skip(&value, "="))
			continue;
		r = key->kind == CALLGRIND_OTHER
			    ? 0
			    : callgrind_find_name(c, value, key->kind, &name);
		if (r || key->is_target)
			return r;
		if (key->kind == CALLGRIND_OBJECT)
			c->object = name;
		else if (key->kind == CALLGRIND_FUNCTION)
			c->function = name;
		return 0;
	}
	return 1;
}

/* ---- the head ---- */

/* Adds an event: inserts an entry for it after the costs of each frame. */
static int callgrind_add_event(struct callgrind_profile *c, uint32_t name)
{
	const size_t nr = c->events.nr, nr_frames = nr ? c->costs.nr / nr : 0;

	if (!vec_push(&c->events, name))
		return -ENOMEM;
	for (size_t i = 0; i < nr_frames; i++)
		if (!vec_push(&c->costs, 0))
			return -ENOMEM;
	for (size_t frame = nr_frames; frame-- > 0;) {
		memmove(&c->costs.at[frame * (nr + 1)], &c->costs.at[frame * nr],
			nr * sizeof(*c->costs.at));
		c->costs.at[frame * (nr + 1) + nr] = 0;
	}
	return 0;
}

/* Finds or adds the event of the next column. */
static int callgrind_take_event(struct callgrind_profile *c, struct foreign_word w)
{
	const uint32_t name = stack_tree_name(&c->tree, w);
	uint32_t event = 0;

	if (name == STRTAB_FAILED)
		return -ENOMEM;
	while (event < c->events.nr && c->events.at[event] != name)
		event++;
	if (event == FOREIGN_EVENTS_MAX || c->nr_columns == FOREIGN_EVENTS_MAX) {
		c->info->skipped++;
		return 0;
	}
	if (event == c->events.nr && callgrind_add_event(c, name))
		return -ENOMEM;
	c->columns[c->nr_columns++] = event;
	return 0;
}

/* Parses the list of events in the header of a part. The parts of a file can have different
 * events. */
static int callgrind_take_events(struct callgrind_profile *c, struct foreign_word list)
{
	uint32_t before[FOREIGN_EVENTS_MAX];
	const size_t nr_before = c->nr_columns;
	struct foreign_word w;
	int r = 0;

	memcpy(before, c->columns, sizeof(before));
	callgrind_totals_end_part(&c->totals);
	c->nr_columns = 0;
	while (!r && (w = callgrind_next_word(&list)).len)
		r = callgrind_take_event(c, w);
	memset(c->last, 0, sizeof(c->last));
	if (nr_before && (nr_before != c->nr_columns ||
			  memcmp(before, c->columns, nr_before * sizeof(*before)) != 0))
		callgrind_totals_change_events(&c->totals);
	return r;
}

/* Reads the sums of a line "summary:" or "totals:".  Returns false if it has other words. */
static bool callgrind_read_sums(struct foreign_word line,
				struct callgrind_sums *ret_sums)
{
	struct foreign_word w = callgrind_next_word(&line);

	*ret_sums = (struct callgrind_sums){ 0 };
	for (; w.len; w = callgrind_next_word(&line))
		if (ret_sums->nr == FOREIGN_EVENTS_MAX ||
		    !foreign_number(w, &ret_sums->by_event[ret_sums->nr++]))
			return false;
	return true;
}

static void callgrind_take_sums(struct callgrind_profile *c, struct foreign_word line,
				void (*take)(struct callgrind_totals *t,
					     const struct callgrind_sums *sums))
{
	struct callgrind_sums sums;

	if (callgrind_read_sums(line, &sums))
		take(&c->totals, &sums);
	else
		c->info->skipped++;
}

static int callgrind_take_command(struct callgrind_profile *c, struct foreign_word line)
{
	struct foreign_word w = callgrind_next_word(&line);
	const char *slash;

	while ((slash = w.len ? memchr(w.at, '/', w.len) : NULL)) {
		w.len -= (size_t)(slash + 1 - w.at);
		w.at = slash + 1;
	}
	c->command = stack_tree_name(&c->tree, w);
	return c->command == STRTAB_FAILED ? -ENOMEM : 0;
}

/* Parses a header line "key: value". Ignores unknown keys. */
static int callgrind_take_head(struct callgrind_profile *c, struct foreign_word line)
{
	uint64_t pid;

	if (callgrind_skip(&line, "events:"))
		return callgrind_take_events(c, line);
	if (callgrind_skip(&line, "cmd:"))
		return callgrind_take_command(c, line);
	if (callgrind_skip(&line, "summary:")) {
		callgrind_take_sums(c, line, callgrind_totals_summary);
	} else if (callgrind_skip(&line, "totals:")) {
		callgrind_take_sums(c, line, callgrind_totals_check);
	} else if (callgrind_skip(&line, "part:")) {
		callgrind_totals_end_part(&c->totals);
	} else if (callgrind_skip(&line, "creator: callgrind-")) {
		c->totals.is_exact = true;
	} else if (callgrind_skip(&line, "positions:")) {
		c->nr_positions = 0;
		while (callgrind_next_word(&line).len)
			c->nr_positions++;
	} else if (callgrind_skip(&line, "pid:") &&
		   foreign_number(callgrind_next_word(&line), &pid) &&
		   pid <= INT32_MAX) {
		c->pid = (int64_t)pid;
	}
	return 0;
}

/* ---- costs ---- */

/* Parses a cost. Some writers compress costs like positions, relative to the previous line. Returns
 * false if the word is not a number or the cost overflows. */
static bool callgrind_parse_cost(struct foreign_word w, uint64_t last,
				 uint64_t *ret_cost)
{
	const char sign = *w.at;
	uint64_t v = 0;

	if (sign == '*' && w.len == 1) {
		*ret_cost = last;
		return true;
	}
	if (sign == '+' || sign == '-') {
		w.at++;
		w.len--;
	} else {
		last = 0;
	}
	if (!foreign_number(w, &v))
		return false;
	return sign == '-' ? !__builtin_sub_overflow(last, v, ret_cost)
			   : !__builtin_add_overflow(last, v, ret_cost);
}

/* Reads the costs of a line into c->last. Missing costs are 0. */
static void callgrind_read_costs(struct callgrind_profile *c, struct foreign_word rest)
{
	for (size_t i = 0; i < c->nr_columns; i++) {
		const struct foreign_word w = callgrind_next_word(&rest);

		if (!w.len || !callgrind_parse_cost(w, c->last[i], &c->last[i])) {
			c->info->skipped += w.len > 0;
			c->last[i] = 0;
		}
	}
}

/* Adds the costs of the line to those of the current function. */
static int callgrind_add_costs(struct callgrind_profile *c)
{
	const uint32_t frame = stack_tree_frame(&c->tree, c->function, c->object);
	uint64_t *cost;

	if (frame == STACK_TREE_NONE)
		return -ENOMEM;
	while (c->costs.nr < c->tree.frames.nr * c->events.nr)
		if (!vec_push(&c->costs, 0))
			return -ENOMEM;
	callgrind_totals_add(&c->totals, c->last, c->nr_columns);
	for (size_t i = 0; i < c->nr_columns; i++) {
		cost = &c->costs.at[frame * c->events.nr + c->columns[i]];
		if (__builtin_add_overflow(*cost, c->last[i], cost))
			c->info->skipped++;
	}
	return 0;
}

/* Parses a line "POSITION... COST...". The positions (lines and addresses, absolute or relative as
 * in "+3" and "*") are skipped. */
static int callgrind_take_costs(struct callgrind_profile *c, struct foreign_word line)
{
	const bool is_call = c->after_call;

	c->after_call = false;
	for (size_t i = 0; i < c->nr_positions; i++)
		if (!callgrind_next_word(&line).len)
			c->info->skipped++;
	callgrind_read_costs(c, line);
	if (is_call)
		return 0;
	if (c->nr_columns)
		return callgrind_add_costs(c);
	c->info->skipped++;
	return 0;
}

/* ---- the file ---- */

static int callgrind_take_line(struct callgrind_profile *c, struct foreign_word line)
{
	int r;

	if (!line.len || *line.at == '#')
		return 0;
	if ((*line.at >= '0' && *line.at <= '9') || *line.at == '+' ||
	    *line.at == '-' || *line.at == '*')
		return callgrind_take_costs(c, line);
	r = callgrind_take_name(c, line);
	if (r <= 0)
		return r;
	if (callgrind_skip(&line, "calls=")) {
		c->after_call = true;
		return 0;
	}
	if (callgrind_skip(&line, "jump=") || callgrind_skip(&line, "jcnd="))
		return 0;
	if (memchr(line.at, ':', line.len))
		return callgrind_take_head(c, line);
	c->info->skipped++;
	return 0;
}

static int callgrind_give(struct callgrind_profile *c)
{
	struct foreign_sample s = { .comm = stack_tree_text(&c->tree, c->command),
				    .pid = c->pid,
				    .tid = c->pid,
				    .cpu = -1,
				    .count = 1,
				    .value_only = true,
				    .nr_frames = 1,
				    .truncated = true };
	const size_t nr = c->events.nr;
	int r = 0;

	for (size_t i = 0; !r && i < c->costs.nr; i++) {
		s.event = stack_tree_text(&c->tree, c->events.at[i % nr]);
		s.frames = &c->tree.frames.at[i / nr];
		s.period = c->costs.at[i];
		if (s.period)
			r = c->fn(c->ctx, &s);
	}
	return r;
}

static int callgrind_read(struct callgrind_profile *c, struct foreign_word text,
			  struct err *err)
{
	const char *at = text.at;
	const char *end = text.at + text.len;
	struct foreign_word line;
	int r = 0;

	while (!r && foreign_line(&at, end, &line)) {
		foreign_info_passed(c->info, line.at);
		r = callgrind_take_line(c, line);
	}
	if (r)
		return r;
	if (!c->events.nr)
		return err_set(err, -EBADMSG, "it has no line \"events:\"");
	c->info->cut = c->after_call;
	callgrind_totals_end_part(&c->totals);
	c->info->contradictions = c->totals.nr_wrong;
	return callgrind_give(c);
}

static bool callgrind_has_costs(const struct foreign_head *head)
{
	return foreign_head_has_line(head, "events:") &&
	       (foreign_head_has_line(head, "fn=") ||
		foreign_head_has_line(head, "fl="));
}

bool foreign_is_callgrind(const struct foreign_head *head)
{
	return callgrind_has_costs(head);
}

bool foreign_is_cachegrind(const struct foreign_head *head)
{
	return foreign_head_has_first(head, "desc:") && callgrind_has_costs(head);
}

int foreign_read_callgrind(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			   struct foreign_info *ret_info, struct err *err)
{
	struct callgrind_profile c = {
		.nr_positions = 1, .pid = -1, .fn = fn, .ctx = ctx, .info = ret_info
	};
	int r;

	foreign_info_begin(ret_info);
	r = stack_tree_init(&c.tree);
	if (!r)
		r = callgrind_read(&c, (struct foreign_word){ bytes, len }, err);
	stack_tree_done(&c.tree);
	map_done(&c.name_by);
	vec_done(&c.events);
	vec_done(&c.costs);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}
