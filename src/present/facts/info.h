/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.h - writes facts about recordings as text and JSON.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdio.h>

struct info;

void info_print_text(const struct info *info, FILE *out);
/* Writes all recordings as a single document. */
void info_print_json(const struct info *infos, size_t nr, FILE *out);
