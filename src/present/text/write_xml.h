/* write_xml.h - what OProfile's XML tells of the report itself.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct code;

struct xml_about {
	const char *title;    /* the command line, each word with a blank behind it */
	const char *cpu_type; /* "i386/nehalem"; NULL: not known */
	const char *session;  /* these as they were given; NULL or "": not */
	const char *merge;
	const char *exclude_symbols;
	const char *include_symbols;
	const char *image_path;
	bool exclude_dependent;
	/* With details: the code of an image of the profile, borrowed until the next call; NULL: it
	 * is nowhere. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	void *ctx;
};
