/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules.h - which options of opreport do not go together.
 * Layer: tools; part of report_plan.c. */
#pragma once

struct err;
struct report_plan;

/* After the values are parsed, and the keys if --by gives them.  0, or -EINVAL with the line
 * that OProfile's users know (oprofile-behaviour.md 1.1) where it had the same rule. */
int report_rules_check(const struct report_plan *plan, struct err *err);
