/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules.h - checks combinations of opreport's options.
 * Layer: tools; part of report/plan.c. */
#pragma once

struct err;
struct report_plan;

/* Checks the options of the plan. Call it after their values, and the keys of --by, were parsed.
 * Returns 0, or -EINVAL with a message, which is OProfile's if OProfile has the same rule. */
int report_rules_check(const struct report_plan *plan, struct err *err);
