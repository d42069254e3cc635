/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quality_text.h - writes the quality report of a profile (`--quality`).
 * Layer: present. */
#pragma once
#include <stdio.h>

struct json;
struct profile;

/* Writes the quality report as lines after a text report.  Returns 0 or -ENOMEM. */
int quality_write_text(FILE *out, struct profile *p);
/* Writes the member "quality" of the current object.  Returns 0 or -ENOMEM. */
int quality_write_json(struct json *j, struct profile *p);
