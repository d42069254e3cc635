/* write_xml_priv.h - what write_xml.c (programs and their functions) and write_xml_tables.c (tables
 * that these refer to) share.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "present/text/xml_tree.h"

struct present_options;

/* An entry of the table of symbols. */
struct entry {
	uint32_t group;
	uint32_t function;
};

/* Where a symbol that is shown has its details. */
struct shown {
	uint32_t entry;
	uint32_t turn; /* among the tree's symbols */
	size_t first_id;
};

struct xml {
	FILE *out;
	struct xml_tree tree;
	const struct present_options *options;
	bool with_classes;
	uint64_t *sums;
	VEC(uint32_t) events; /* of the profile, by id */
	VEC(struct entry) entries;
	struct map entry_by; /* image, function */
	VEC(struct shown) shown;
	size_t nr_details;
	size_t next_in, next_out; /* arcs of the next symbol */
	bool failed;
};

/* One attribute, with a blank in front. */
void xml_put_attribute(struct xml *x, const char *name, const char *value);
void xml_put_number(struct xml *x, const char *name, uint64_t value);
/* How many bytes of "dir/t.c:5" are the file's name; 0: no line is known. */
size_t xml_file_bytes(const char *place);
/* line="5", with file="dir/t.c" in front of it; nothing where no line is known. */
void xml_put_line(struct xml *x, const char *place, bool with_file);
/* The counts of classes that have some; one at least. */
void xml_put_counts(struct xml *x, const uint64_t *counts);
/* The text of a key at its position; borrowed. */
const char *xml_text_of(struct xml *x, uint32_t group, int key);

/* What was referred to: functions, with details their addresses and code. */
void xml_put_symbol_table(struct xml *x);
void xml_put_detail_table(struct xml *x);
void xml_put_byte_table(struct xml *x);
