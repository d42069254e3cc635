/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/writers.h"

#include <stddef.h>
#include <string.h>

#include "present/calls/write_calls.h"
#include "present/text/text_writers.h"

const struct writer writers[] = {
	{ "summary", "OProfile's table of applications and their images",
	  write_summary },
	{ "symbols", "OProfile's table of functions", write_symbols },
	{ "calls", "OProfile's call graph: each function with callers and callees",
	  write_calls },
	{ "calls-csv", "the same as comma separated values", write_calls_csv },
	{ "calls-json", "the same as one JSON object", write_calls_json },
	{ "tree", "call stacks as a tree", write_tree },
	{ "tree-csv", "the same as comma separated values", write_tree_csv },
	{ "tree-json", "the same as one JSON object", write_tree_json },
	{ "table", "a table with a column for each key", write_table },
	{ "csv", "comma separated values, RFC 4180", write_csv },
	{ "json", "one JSON object", write_json },
	{ "xml", "OProfile's XML", write_xml },
	{ "quality", "how far the profile can be trusted", write_quality },
	{ "quality-json", "the same as one JSON object", write_quality_json },
	{ NULL, NULL, NULL },
};

const struct writer *writer_find(const char *name)
{
	for (const struct writer *w = writers; w->name; w++) {
		if (!strcmp(w->name, name))
			return w;
	}
	return NULL;
}
