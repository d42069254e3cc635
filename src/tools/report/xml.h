/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xml.h - the information about the run in opreport --xml.
 * Layer: tools. */
#pragma once
#include "base/buf.h"
#include "present/text/write_xml.h"
#include "recordings/code/image_code.h"

struct profile;
struct report_plan;

struct report_xml {
	struct xml_about about;
	struct image_code code;
	struct buf title, merge, exclude, include, session;
};

/* Stores the command line; call it before parsing, which changes it. Returns 0 or -ENOMEM; call
 * report_xml_done() in both cases. */
int report_xml_words(struct report_xml *x, int argc, char *const *argv);
/* Sets plan->present.xml to the information about the run; call it after reading the profile.
 * Returns 0 or -ENOMEM. */
int report_xml_make(struct report_xml *x, struct report_plan *plan,
		    const struct profile *p);
void report_xml_done(struct report_xml *x);
