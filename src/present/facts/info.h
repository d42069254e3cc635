/* info.h - facts of recordings as text and as JSON.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdio.h>

struct info;

void info_print_text(const struct info *info, FILE *out);
/* All of them as one document. */
void info_print_json(const struct info *infos, size_t nr, FILE *out);
