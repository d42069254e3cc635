#include "present/writers.h"

#include <stddef.h>
#include <string.h>

const struct writer writers[] = {
	{ "summary", "OProfile's table of applications and their images",
	  write_summary },
	{ "symbols", "OProfile's table of functions", write_symbols },
	{ "table", "a table with a column for each key", write_table },
	{ "csv", "comma separated values, RFC 4180", write_csv },
	{ "json", "one JSON object", write_json },
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
