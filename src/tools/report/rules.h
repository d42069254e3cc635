/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules.h - checks combinations of opreport's options.
 * Layer: tools; part of report/plan.c. */
#pragma once

struct err;
struct report_plan;

/* Call after the values are parsed, and the keys if --by gives them.  Returns 0, or -EINVAL; the
 * message is OProfile's (oprofile-behaviour.md 1.1) if it had the same rule. */
int report_rules_check(const struct report_plan *plan, struct err *err);
