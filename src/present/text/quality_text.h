/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quality_text.h - writes the quality report of a profile (`--quality`).
 * Layer: present. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct distribution;
struct json;
struct profile;

/* Writes the quality report as lines after a text report.  Returns 0 or -ENOMEM. */
int quality_write_text(FILE *out, struct profile *p);
/* Writes the member "quality" of the current object.  Returns 0 or -ENOMEM. */
int quality_write_json(struct json *j, struct profile *p);
/* Writes the object of an image of the profile with samples without a function: its number of them,
 * the reason and the remedy.  Returns 0 or -ENOMEM. */
int quality_write_json_image(struct json *j, const struct profile *p, uint32_t number,
			     const struct distribution *distribution);
