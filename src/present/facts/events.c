/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - writes the list of events as text like ophelp(1), XML and JSON. */
#include <inttypes.h>
#include <string.h>

#include "capture/events/cpu_types.h"
#include "capture/events/event_counters.h"
#include "capture/events/events.h"
#include "present/facts/events.h"
#include "present/lines/json.h"
#include "present/text/html_text.h"

enum {
	TEXT_WIDTH = 99,
	MASK_INDENT = 14
};

static bool mask_has(const struct events_view *v, const struct catalog_event *e)
{
	const struct catalog_mask *mask;

	for (size_t i = 0; (mask = event_catalog_mask(v->catalog, e, i)); i++)
		if (strcasestr(mask->name, v->word) || strcasestr(mask->about, v->word))
			return true;
	return false;
}

static bool is_found(const struct events_view *v, const struct catalog_event *e)
{
	return !v->word || strcasestr(e->name, v->word) ||
	       strcasestr(e->about, v->word) || mask_has(v, e);
}

/* If several events with the same name match, returns only the first one. */
const struct catalog_event *events_view_next(const struct events_view *v, size_t *at)
{
	const struct catalog_event *all = v->catalog->events.at;

	while (*at < v->catalog->events.nr) {
		size_t i = (*at)++;
		size_t before = i;
		bool shown = false;

		while (!shown && before && !strcasecmp(all[--before].name, all[i].name))
			shown = is_found(v, &all[before]);
		if (!shown && is_found(v, &all[i]))
			return &all[i];
	}
	return NULL;
}

/* Wraps the text at column TEXT_WIDTH and indents further lines.  Text from `from` on that needs
 * no change is written with a single call. */
static void write_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
	const char *from = text;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (column + len + 1 > TEXT_WIDTH) {
			fwrite_unlocked(from, 1, (size_t)(text - from), out);
			putc_unlocked('\n', out);
			for (size_t i = 0; i < indent; i++)
				putc_unlocked(' ', out);
			from = text;
			column = indent;
		}
		column += len + 1;
		text += len;
		if (*text == ' ' && text[1] && !strchr(" \n", text[1])) {
			text++;
			continue;
		}
		fwrite_unlocked(from, 1, (size_t)(text - from), out);
		text += strspn(text, " \n");
		from = text;
		if (*text)
			putc_unlocked(' ', out);
	}
	fwrite_unlocked(from, 1, (size_t)(text - from), out);
	putc_unlocked('\n', out);
}

/* A set of counters, and the text that represents it. */
struct shown_counters {
	uint64_t counters;
	char text[EVENT_COUNTERS_TEXT];
};

/* Writes a mask, with its counters if they differ from `of_event`, the counters of all masks. */
static void write_mask(FILE *out, const struct events_view *v,
		       const struct catalog_event *e, const struct catalog_mask *mask,
		       const struct shown_counters *of_event)
{
	bool named = *mask->name;
	size_t column = 7 + (size_t)fprintf(out, "\t0x%02" PRIx64 ": %s%s%s",
					    mask->value, named ? "(name=" : "",
					    mask->name, named ? ") " : "");
	uint64_t counters = event_catalog_counters(v->catalog, e, mask);
	char of_mask[EVENT_COUNTERS_TEXT] = "";
	char about[512];

	/* Not all counters are shown, so different sets can have the same text. */
	if (counters != of_event->counters)
		event_counters_text(counters, of_mask);
	if (counters == of_event->counters || !strcmp(of_mask, of_event->text)) {
		write_wrapped(out, mask->about, column, MASK_INDENT);
		return;
	}
	(void)snprintf(about, sizeof(about), "%s (counter: %s)", mask->about, of_mask);
	write_wrapped(out, about, column, MASK_INDENT);
}

static void write_masks(FILE *out, const struct events_view *v,
			const struct catalog_event *e,
			const struct shown_counters *counters)
{
	const struct catalog_mask *mask;
	uint64_t value;

	if (!e->nr_masks)
		return;
	if (event_catalog_default(v->catalog, e, &value))
		fprintf(out, "\tUnit masks (default 0x%" PRIx64 ")\n", value);
	else
		fputs("\tUnit masks (no default, one must be given)\n", out);
	fputs("\t----------\n", out);
	for (size_t i = 0; (mask = event_catalog_mask(v->catalog, e, i)); i++)
		write_mask(out, v, e, mask, counters);
}

static void write_head(FILE *out, const struct events_view *v)
{
	const struct cpu_type *cpu = v->catalog->cpu;

	fprintf(out, "oprofile: available events for CPU type \"%s\"\n\n", cpu->title);
	if (v->cores)
		fprintf(out,
			"One of this machine's %zu kinds of cores: CPUs %s, PMU %s\n\n",
			v->nr_kinds, v->cores->cpus, v->cores->pmu);
	if (cpu->document)
		fprintf(out, "%s\n\n", cpu->document);
	fputs("For architectures using unit masks, you may be able to specify\n"
	      "unit masks by name.  See 'operf' or 'ocount' man page for more details.\n"
	      "\n",
	      out);
}

size_t events_write_text(FILE *out, const struct events_view *v)
{
	const struct catalog_event *e;
	struct shown_counters shown = { 0 };
	size_t at = 0;
	size_t nr = 0;

	event_counters_text(shown.counters, shown.text);
	write_head(out, v);
	for (; (e = events_view_next(v, &at)); nr++) {
		uint64_t counters = event_catalog_counters(v->catalog, e, NULL);

		if (counters != shown.counters)
			event_counters_text(counters, shown.text);
		shown.counters = counters;
		fprintf(out, "%s: (counter: %s)\n\t%s (min count: %" PRIu64 ")\n",
			e->name, shown.text, e->about[0] ? e->about : "no description",
			e->min_count * v->count_factor);
		write_masks(out, v, e, &shown);
	}
	return nr;
}

/* Writes an attribute. XML readers join the lines of an attribute, so a blank replaces each line
 * end. */
static void xml_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	for (size_t len; *value; value += len) {
		len = strcspn(value, "\n");
		html_put_len(out, value, len);
		if (value[len] == '\n') {
			fputc(' ', out);
			len++;
		}
	}
	fputc('"', out);
}

static void xml_mask(FILE *out, const struct catalog_mask *mask)
{
	fputs("   <unit_mask ", out);
	if (*mask->name)
		xml_attribute(out, "name", mask->name);
	fprintf(out, " mask=\"%" PRIu64 "\"", mask->value);
	xml_attribute(out, "desc", mask->about);
	fputs("/>\n", out);
}

static void xml_masks(FILE *out, const struct events_view *v,
		      const struct catalog_event *e)
{
	const struct catalog_mask *mask;
	uint64_t value;

	if (!e->nr_masks)
		return;
	fputs("  <unit_masks ", out);
	if (event_catalog_default(v->catalog, e, &value))
		fprintf(out, " default=\"%" PRIu64 "\"", value);
	else
		fputs(" default=\"0\"", out); /* the schema requires one */
	fprintf(out, " category=\"%s\">\n", e->nr_masks == 1 ? "mandatory" : "bitmask");
	for (size_t i = 0; (mask = event_catalog_mask(v->catalog, e, i)); i++)
		xml_mask(out, mask);
	fputs("  </unit_masks>\n", out);
}

static size_t xml_events(FILE *out, const struct events_view *v)
{
	const struct catalog_event *e;
	size_t at = 0;
	size_t nr = 0;

	for (; (e = events_view_next(v, &at)); nr++) {
		uint64_t counters = event_catalog_counters(v->catalog, e, NULL);
		uint64_t general = counters & UINT32_MAX;

		fputs(" <event ", out);
		xml_attribute(out, "event_name", e->name);
		xml_attribute(out, "desc", e->about);
		fprintf(out, " counter_mask=\"%" PRIu64 "\" min_count=\"%" PRIu64 "\"",
			general ? general : counters, e->min_count * v->count_factor);
		if (v->cores)
			xml_attribute(out, "pmu", v->cores->pmu);
		fputs(e->nr_masks ? ">\n" : "/>\n", out);
		xml_masks(out, v, e);
		if (e->nr_masks)
			fputs(" </event>\n", out);
	}
	return nr;
}

size_t events_write_xml(FILE *out, const struct events_view *views, size_t nr)
{
	const struct cpu_type *cpu = views[0].catalog->cpu;
	size_t written = 0;

	fputs("<?xml version=\"1.0\"?>\n<help_events  schemaversion=\"2.0\">\n"
	      " <header ",
	      out);
	xml_attribute(out, "title", cpu->title);
	xml_attribute(out, "doc", cpu->document ? cpu->document : "");
	fputs("/>\n", out);
	for (size_t i = 0; i < nr; i++)
		written += xml_events(out, &views[i]);
	fputs("</help_events>\n", out);
	return written;
}

static void json_choice(struct json *j, const struct events_view *v,
			const struct catalog_event *e, const char *mask)
{
	struct catalog_choice choice;

	if (event_catalog_choose(v->catalog, e->name, mask, &choice, NULL))
		return;
	json_member_u64(j, "config", choice.config);
	if (choice.config1)
		json_member_u64(j, "config1", choice.config1);
}

static void json_event(struct json *j, const struct events_view *v,
		       const struct catalog_event *e)
{
	const struct catalog_mask *mask;

	json_begin_object(j);
	json_member_text(j, "name", e->name);
	json_member_text(j, "description", e->about);
	json_member_u64(j, "code", e->code);
	json_choice(j, v, e, NULL);
	json_member_u64(j, "min_count", e->min_count * v->count_factor);
	json_member_u64(j, "counter_mask", event_catalog_counters(v->catalog, e, NULL));
	json_name(j, "precise");
	json_bool(j, e->precise);
	json_name(j, "masks");
	json_begin_array(j);
	for (size_t i = 0; (mask = event_catalog_mask(v->catalog, e, i)); i++) {
		char number[24];

		(void)snprintf(number, sizeof(number), "%" PRIu64, mask->value);
		json_begin_object(j);
		json_member_text(j, "name", mask->name);
		json_member_text(j, "description", mask->about);
		json_member_u64(j, "mask", mask->value);
		json_choice(j, v, e, *mask->name ? mask->name : number);
		json_member_u64(j, "counter_mask",
				event_catalog_counters(v->catalog, e, mask));
		json_name(j, "default");
		json_bool(j, mask->is_default);
		json_name(j, "precise");
		json_bool(j, mask->precise);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static size_t events_write_json_events(struct json *j, const struct events_view *v)
{
	const struct catalog_event *e;
	size_t at = 0;
	size_t nr = 0;

	json_member_text(j, "cpu_type", v->catalog->cpu->name);
	json_member_text(j, "cpu", v->catalog->cpu->title);
	if (v->cores) {
		json_member_text(j, "pmu", v->cores->pmu);
		json_member_text(j, "cpus", v->cores->cpus);
	}
	json_member_u64(j, "counters", v->catalog->nr_counters);
	json_name(j, "events");
	json_begin_array(j);
	for (; (e = events_view_next(v, &at)); nr++)
		json_event(j, v, e);
	json_end_array(j);
	return nr;
}

size_t events_write_json(FILE *out, const struct events_view *views, size_t nr)
{
	struct json j = { .out = out };
	size_t written;

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-events/1");
	written = events_write_json_events(&j, &views[0]);
	if (nr > 1) {
		json_name(&j, "other_cores");
		json_begin_array(&j);
		for (size_t i = 1; i < nr; i++) {
			json_begin_object(&j);
			written += events_write_json_events(&j, &views[i]);
			json_end_object(&j);
		}
		json_end_array(&j);
	}
	json_end_object(&j);
	fputc('\n', out);
	return written;
}

void events_write_requests(FILE *out, const struct event_request *events, size_t nr)
{
	struct json j = { .out = out };

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-event-specs/1");
	json_name(&j, "events");
	json_begin_array(&j);
	for (size_t i = 0; i < nr; i++) {
		const struct event_request *e = &events[i];

		json_begin_object(&j);
		json_member_text(&j, "name", e->name);
		json_member_text(&j, "description", e->about);
		json_member_u64(&j, "type", e->attr.type);
		json_member_u64(&j, "config", e->attr.config);
		json_member_u64(&j, "config1", e->attr.config1);
		json_member_u64(&j, "config2", e->attr.config2);
		json_member_u64(&j, "count", e->count);
		json_member_u64(&j, "frequency", e->frequency_hz);
		json_member_u64(&j, "unit_mask", e->unit_mask);
		json_name(&j, "kernel");
		json_bool(&j, e->kernel);
		json_name(&j, "user");
		json_bool(&j, e->user);
		json_member_u64(&j, "precise", e->attr.precise_ip);
		json_member_u64(&j, "group", e->group);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', out);
}
