/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <inttypes.h>

#include "decode/record_names.h"
#include "present/facts/info.h"
#include "present/lines/json.h"
#include "present/lines/screen.h"
#include "recordings/facts/info.h"

enum {
	NAME_WIDTH = 20
};

static const char *row_name(const struct info_row *row, char *space, size_t bytes)
{
	const char *name = record_name(row->type);

	if (name)
		return name;
	snprintf(space, bytes, "type %" PRIu32, row->type);
	return space;
}

/* Prints "os_release" as "Os release:". */
static void print_fact(const struct fact *fact, unsigned int indent, FILE *out)
{
	int width = fprintf(out, "%*s%c", (int)indent, "", toupper(fact->name[0]));

	for (const char *at = fact->name + 1; *at; at++, width++)
		putc(*at == '_' ? ' ' : *at, out);
	putc(':', out);
	fprintf(out, "%*s",
		width < NAME_WIDTH + (int)indent ? NAME_WIDTH + (int)indent - width : 1,
		"");
	screen_write_name(out, fact->text);
	putc('\n', out);
}

static void print_facts(const struct fact_list *list, unsigned int indent, FILE *out)
{
	for (size_t i = 0; i < list->facts.nr; i++)
		print_fact(&list->facts.at[i], indent, out);
}

static void info_print_samples(uint64_t samples, FILE *out)
{
	fprintf(out, "  %-*s%" PRIu64 "\n", NAME_WIDTH + 1, "Samples:", samples);
}

static void print_rows(const struct info *info, FILE *out)
{
	uint64_t records = 0, bytes = 0;
	char space[32];

	fprintf(out, "\nRecords\n%14s%16s  kind\n", "count", "bytes");
	for (size_t i = 0; i < info->rows.nr; i++) {
		const struct info_row *row = &info->rows.at[i];

		records += row->records;
		bytes += row->bytes;
		fprintf(out, "%14" PRIu64 "%16" PRIu64 "  %s\n", row->records,
			row->bytes, row_name(row, space, sizeof(space)));
	}
	fprintf(out, "%14" PRIu64 "%16" PRIu64 "  all\n", records, bytes);
}

void info_print_text(const struct info *info, FILE *out)
{
	screen_write_name(out, info->name ? info->name : info->path);
	putc('\n', out);
	print_facts(&info->facts, 2, out);
	for (size_t i = 0; i < info->events.nr; i++) {
		fputs("\nEvent ", out);
		screen_write_name(out, info->events.at[i].name);
		putc('\n', out);
		info_print_samples(info->events.at[i].samples, out);
		print_facts(&info->events.at[i].facts, 2, out);
	}
	if (info->rows.nr)
		print_rows(info, out);
	if (info->damage.facts.nr)
		fprintf(out, "\nCould not be used\n");
	print_facts(&info->damage, 2, out);
}

static void json_facts(struct json *j, const struct fact_list *list)
{
	for (size_t i = 0; i < list->facts.nr; i++) {
		const struct fact *fact = &list->facts.at[i];

		json_name(j, fact->name);
		if (fact->number)
			json_number(j, fact->text);
		else
			json_text(j, fact->text);
	}
}

static void info_print_json_events(struct json *j, const struct info *info)
{
	json_name(j, "events");
	json_begin_array(j);
	for (size_t i = 0; i < info->events.nr; i++) {
		json_begin_object(j);
		json_name(j, "name");
		json_text(j, info->events.at[i].name);
		json_name(j, "samples");
		json_u64(j, info->events.at[i].samples);
		json_facts(j, &info->events.at[i].facts);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_rows(struct json *j, const struct info *info)
{
	char space[32];

	json_name(j, "records");
	json_begin_array(j);
	for (size_t i = 0; i < info->rows.nr; i++) {
		const struct info_row *row = &info->rows.at[i];

		json_begin_object(j);
		json_name(j, "kind");
		json_text(j, row_name(row, space, sizeof(space)));
		json_name(j, "type");
		json_u64(j, row->type);
		json_name(j, "count");
		json_u64(j, row->records);
		json_name(j, "bytes");
		json_u64(j, row->bytes);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_info(struct json *j, const struct info *info)
{
	json_begin_object(j);
	json_name(j, "path");
	json_text(j, info->name ? info->name : info->path);
	json_facts(j, &info->facts);
	info_print_json_events(j, info);
	if (info->rows.nr)
		json_rows(j, info);
	json_name(j, "damage");
	json_begin_object(j);
	json_facts(j, &info->damage);
	json_end_object(j);
	json_end_object(j);
}

void info_print_json(const struct info *infos, size_t nr, FILE *out)
{
	struct json j = { .out = out };

	json_begin_object(&j);
	json_name(&j, "schema");
	json_text(&j, "oprofile-info/1");
	json_name(&j, "recordings");
	json_begin_array(&j);
	for (size_t i = 0; i < nr; i++)
		json_info(&j, &infos[i]);
	json_end_array(&j);
	json_end_object(&j);
	putc('\n', out);
}
