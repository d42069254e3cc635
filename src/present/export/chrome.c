/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chrome.c - writes a .cpuprofile for Chrome's developer tools, Visual Studio Code and
 * speedscope: the Profile of the DevTools protocol (domain Profiler).  The profile's keys are
 * comm and stack.  The format describes a single thread, so the stacks follow each other in
 * time, each as long as its samples took.  The outermost function is the command.  A sample
 * lasts until the next one, so there is an extra one at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/calls/table.h"
#include "present/export/export_writers.h"
#include "present/lines/json.h"
#include "present/lines/options.h"

enum {
	ROOT_ID = 1,
	IDLE_ID = 2,
	FIRST_ID = 3,
	US_A_SECOND = 1000000,
	US_A_SAMPLE = 1000, /* if the rate is unknown */
	NS_A_US = 1000
};

struct chrome {
	struct call_table calls;
	struct json json;
	uint64_t *hits;
	uint32_t *child;   /* by node: its first callee; 0: none */
	uint32_t *sibling; /* next callee of the same caller */
	uint8_t *used;     /* by the current command */
};

static void begin_node(struct json *j, uint64_t id, const char *name, const char *image)
{
	json_begin_object(j);
	json_member_u64(j, "id", id);
	json_name(j, "callFrame");
	json_begin_object(j);
	json_member_text(j, "functionName", name);
	json_member_text(j, "scriptId", "0");
	json_member_text(j, "url", image);
	json_name(j, "lineNumber");
	json_number(j, "-1");
	json_name(j, "columnNumber");
	json_number(j, "-1");
	json_end_object(j);
}

/* Returns the id of a node in the tree of a command.  Each command has a copy of all nodes. */
static uint64_t write_chrome_id_of(const struct chrome *c, uint32_t who, uint32_t node)
{
	return FIRST_ID + (uint64_t)who * c->calls.nodes.nr + node;
}

static void put_children(struct chrome *c, uint32_t who, uint32_t node)
{
	json_name(&c->json, "children");
	json_begin_array(&c->json);
	for (uint32_t i = c->child[node]; i; i = c->sibling[i])
		if (c->used[i])
			json_u64(&c->json, write_chrome_id_of(c, who, i));
	json_end_array(&c->json);
}

/* Marks the nodes of a command and counts the samples at each.  Returns the index of the next
 * command's first row. */
static size_t write_chrome_collect(struct chrome *c, size_t at)
{
	const struct call_table *t = &c->calls;
	uint32_t who = call_row_at(t, at)->who;

	memset(c->used, 0, t->nodes.nr);
	memset(c->hits, 0, t->nodes.nr * sizeof(*c->hits));
	c->used[0] = 1;
	for (; at < t->nr_rows && call_row_at(t, at)->who == who; at++) {
		uint32_t node = call_row_at(t, at)->node;

		c->hits[node] += call_row_at(t, at)->samples;
		for (; !c->used[node]; node = t->nodes.at[node].parent)
			c->used[node] = 1;
	}
	return at;
}

static void write_chrome_put_command(struct chrome *c, uint32_t who)
{
	const struct call_table *t = &c->calls;
	size_t comm = (size_t)keys_find(t->p->options.keys, KEY_COMM);
	struct json *j = &c->json;

	for (uint32_t i = 0; i < t->nodes.nr; i++) {
		if (!c->used[i])
			continue;
		if (i)
			begin_node(j, write_chrome_id_of(c, who, i),
				   call_symbol_name(t, t->nodes.at[i].symbol),
				   call_symbol_image(t, t->nodes.at[i].symbol));
		else
			begin_node(j, write_chrome_id_of(c, who, i),
				   profile_text(t->p, t->whos.at[who], comm), "");
		json_member_u64(j, "hitCount", c->hits[i]);
		put_children(c, who, i);
		json_end_object(j);
	}
}

static void put_nodes(struct chrome *c)
{
	struct json *j = &c->json;

	json_name(j, "nodes");
	json_begin_array(j);
	begin_node(j, ROOT_ID, "(root)", "");
	json_member_u64(j, "hitCount", 0);
	json_name(j, "children");
	json_begin_array(j);
	json_u64(j, IDLE_ID);
	for (uint32_t i = 0; i < c->calls.whos.nr; i++)
		json_u64(j, write_chrome_id_of(c, i, 0));
	json_end_array(j);
	json_end_object(j);
	begin_node(j, IDLE_ID, "(idle)", "");
	json_member_u64(j, "hitCount", 0);
	json_end_object(j);
	for (size_t i = 0; i < c->calls.nr_rows;) {
		uint32_t who = call_row_at(&c->calls, i)->who;

		i = write_chrome_collect(c, i);
		write_chrome_put_command(c, who);
	}
	json_end_array(j);
}

/* Returns the microseconds that a sample represents. */
static uint64_t sample_us(const struct chrome *c)
{
	const struct profile_event *e = &c->calls.p->events.at[c->calls.events.at[0]];
	const uint64_t hz = profile_event_hz(e);

	if (hz && hz <= US_A_SECOND)
		return US_A_SECOND / hz;
	if (e->flags & EVENT_TIMER && e->count >= NS_A_US)
		return e->count / NS_A_US;
	return US_A_SAMPLE;
}

static void write_chrome_put_samples(struct chrome *c)
{
	const struct call_table *t = &c->calls;
	struct json *j = &c->json;
	uint64_t us = sample_us(c), end = 0;

	json_name(j, "samples");
	json_begin_array(j);
	for (size_t i = 0; i < t->nr_rows; i++)
		json_u64(j, write_chrome_id_of(c, call_row_at(t, i)->who,
					       call_row_at(t, i)->node));
	json_u64(j, IDLE_ID);
	json_end_array(j);
	json_name(j, "timeDeltas");
	json_begin_array(j);
	json_u64(j, 0);
	for (size_t i = 0; i < t->nr_rows; i++) {
		json_u64(j, call_row_at(t, i)->samples * us);
		end += call_row_at(t, i)->samples * us;
	}
	json_end_array(j);
	json_member_u64(j, "startTime", 0);
	json_member_u64(j, "endTime", end);
}

static int link_nodes(struct chrome *c)
{
	size_t nr = c->calls.nodes.nr;

	c->hits = calloc(nr, sizeof(*c->hits));
	c->child = calloc(nr, sizeof(*c->child));
	c->sibling = calloc(nr, sizeof(*c->sibling));
	c->used = calloc(nr, 1);
	if (!c->hits || !c->child || !c->sibling || !c->used)
		return -ENOMEM;
	for (uint32_t i = (uint32_t)nr - 1; i; i--) {
		uint32_t parent = c->calls.nodes.at[i].parent;

		c->sibling[i] = c->child[parent];
		c->child[parent] = i;
	}
	return 0;
}

int write_chrome(FILE *out, struct profile *p, const struct present_options *options,
		 struct err *err)
{
	struct chrome c = { .json = { .out = out } };
	int r = present_needs_one_event(p, "a .cpuprofile", err);

	if (r)
		return r;
	r = call_table_make(&c.calls, p, options->threshold);
	if (!r)
		r = link_nodes(&c);
	if (!r) {
		json_begin_object(&c.json);
		put_nodes(&c);
		write_chrome_put_samples(&c);
		json_end_object(&c.json);
		putc_unlocked('\n', out);
	}
	free(c.hits);
	free(c.child);
	free(c.sibling);
	free(c.used);
	call_table_done(&c.calls);
	return r ? err_set(err, r, "out of memory") : 0;
}
