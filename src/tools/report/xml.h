/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xml.h - what opreport --xml tells of itself.
 * Layer: tools. */
#pragma once
#include "base/buf.h"
#include "present/text/write_xml.h"
#include "tools/report/code.h"

struct profile;
struct report_plan;

struct report_xml {
	struct xml_about about;
	struct report_code code;
	struct buf title, merge, exclude, include, session;
};

/* Before anything is parsed: the command line.  0 or -ENOMEM; report_xml_done() in any case. */
int report_xml_words(struct report_xml *x, int argc, char *const *argv);
/* When the profile is read: plan->present.xml.  0 or -ENOMEM. */
int report_xml_make(struct report_xml *x, struct report_plan *plan,
		    const struct profile *p);
void report_xml_done(struct report_xml *x);
