/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor.h - writes the checks of a machine as text and JSON.
 * Layer: present. */
#pragma once
#include <stdio.h>

struct doctor;
struct screen;

/* Writes the checks in groups, with colours and line breaks as the screen needs. */
void doctor_print_text(const struct doctor *d, const struct screen *screen, FILE *out);
void doctor_print_json(const struct doctor *d, FILE *out);
