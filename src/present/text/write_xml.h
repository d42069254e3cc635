/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_xml.h - report options that OProfile's XML contains.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct code;

struct xml_about {
	const char *title;    /* the command line, with a blank after each argument */
	const char *cpu_type; /* "i386/nehalem"; NULL: unknown */
	/* These are the option arguments; NULL or "": not given. */
	const char *session;
	const char *merge;
	const char *exclude_symbols;
	const char *include_symbols;
	const char *image_path;
	bool exclude_dependent;
	/* With details: returns the code of an image of the profile, valid until the next call,
	 * or NULL if the binary is not found. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	void *ctx;
};
