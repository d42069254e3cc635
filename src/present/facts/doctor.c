/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/facts/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "doctor/doctor.h"
#include "present/lines/json.h"
#include "present/lines/screen.h"

enum {
	STATE_WIDTH = 9,
	NAME_WIDTH = 28,
	INDENT = 2 + STATE_WIDTH + NAME_WIDTH,
	TEXT_LEAST = 20 /* columns of text on narrow terminals */
};

static const char *const states[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_LIMITED] = "limited",
	[DOCTOR_MISSING] = "missing",
};

static const char *state_colour(const struct screen *screen, enum doctor_state state)
{
	if (!screen->colour)
		return "";
	return state == DOCTOR_OK        ? SCREEN_GREEN
	       : state == DOCTOR_MISSING ? SCREEN_RED
					 : SCREEN_BOLD;
}

/* Writes escaped text from column INDENT on, and breaks it at blanks if the screen has a width. */
static void write_broken_at_blanks(FILE *out, const struct screen *screen,
				   const char *label, const char *text)
{
	size_t width = screen->width > INDENT + TEXT_LEAST ? screen->width - INDENT
		       : screen->width                     ? TEXT_LEAST
							   : SIZE_MAX;
	struct buf safe = { 0 };
	const char *at;
	size_t left;

	buf_put(&safe, label, strlen(label));
	buf_put(&safe, text, strlen(text));
	screen_make_safe(&safe, 0);
	at = (const char *)safe.data;
	left = safe.failed ? 0 : safe.len;
	while (left) {
		size_t take = left;

		if (screen_columns(at, left) > width) {
			size_t fits = 0;

			for (size_t i = 1; i < left; i++) {
				if (at[i] != ' ')
					continue;
				if (fits && screen_columns(at, i) > width)
					break;
				fits = i;
			}
			take = fits ? fits : left;
		}
		fprintf(out, "%.*s\n", (int)take, at);
		at += take;
		left -= take;
		if (left) {
			at++;
			left--;
			fprintf(out, "%*s", INDENT, "");
		}
	}
	buf_done(&safe);
}

static void write_check(FILE *out, const struct screen *screen,
			const struct doctor_check *c)
{
	const char *colour = state_colour(screen, c->state);

	fprintf(out, "  %s%-*s%s%-*s", colour, STATE_WIDTH, states[c->state],
		*colour ? SCREEN_PLAIN : "", NAME_WIDTH, c->name);
	if (strlen(c->name) >= NAME_WIDTH)
		fputc(' ', out);
	write_broken_at_blanks(out, screen, "", c->found && *c->found ? c->found : "-");
	if (c->cost) {
		fprintf(out, "%*s", INDENT, "");
		write_broken_at_blanks(out, screen, "cost: ", c->cost);
	}
	if (c->fix) {
		fprintf(out, "%*s", INDENT, "");
		write_broken_at_blanks(out, screen, "fix: ", c->fix);
	}
}

void doctor_print_text(const struct doctor *d, const struct screen *screen, FILE *out)
{
	const char *group = "";

	fprintf(out, "Recording is %spossible for this user.\n",
		d->can_record ? "" : "not ");
	for (size_t i = 0; i < d->checks.nr; i++) {
		const struct doctor_check *c = &d->checks.at[i];

		if (strcmp(group, c->group) != 0)
			fprintf(out, "\n%s%s%s\n", screen->colour ? SCREEN_BOLD : "",
				c->group, screen->colour ? SCREEN_PLAIN : "");
		group = c->group;
		write_check(out, screen, c);
	}
}

void doctor_print_json(const struct doctor *d, FILE *out)
{
	struct json j = { .out = out };

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-doctor/1");
	json_name(&j, "can_record");
	json_bool(&j, d->can_record);
	json_name(&j, "checks");
	json_begin_array(&j);
	for (size_t i = 0; i < d->checks.nr; i++) {
		const struct doctor_check *c = &d->checks.at[i];

		json_begin_object(&j);
		json_member_text(&j, "group", c->group);
		json_member_text(&j, "name", c->name);
		json_member_text(&j, "state", states[c->state]);
		json_member_text(&j, "found", c->found ? c->found : "");
		if (c->cost)
			json_member_text(&j, "cost", c->cost);
		if (c->fix)
			json_member_text(&j, "fix", c->fix);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', out);
}
