/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_xml_priv.h - shared by write_xml.c (programs and their functions) and write_xml_tables.c
 * (the tables that these refer to).
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

/* Locates the details of a shown symbol. */
struct shown {
	uint32_t entry;
	uint32_t position; /* index among the tree's symbols */
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
	struct map entry_by; /* by image and function */
	VEC(struct shown) shown;
	size_t nr_details;
	size_t next_in, next_out; /* indices of the arcs of the next symbol */
	bool failed;
};

/* Writes an attribute with a blank before it. */
void xml_put_attribute(struct xml *x, const char *name, const char *value);
void xml_put_number(struct xml *x, const char *name, uint64_t value);
/* Returns the length of the file name in "dir/t.c:5", or 0 if no line is known. */
size_t xml_file_bytes(const char *position);
/* Writes line="5".  With `with_file`, writes file="dir/t.c" before it.  Writes nothing if no line
 * is known. */
void xml_put_line(struct xml *x, const char *position, bool with_file);
/* Writes the counts of the classes that have samples.  Writes at least one count. */
void xml_put_counts(struct xml *x, const uint64_t *counts);
/* Returns the text of a key by its index; do not free it. */
const char *xml_text_of(struct xml *x, uint32_t group, int key);

/* Write the tables of referenced functions and, with details, of their addresses and code. */
void xml_put_symbol_table(struct xml *x);
void xml_put_detail_table(struct xml *x);
void xml_put_byte_table(struct xml *x);
