/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_debuglink.c - any bytes as a .gnu_debuglink section, in both byte orders, and as the
 * text of a session's list of modules. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/find/debug_link.h"
#include "resolve/symbols/module_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debug_link link;
	struct module_line line;

	for (int swap = 0; swap < 2; swap++) {
		if (debug_link_parse(data, size, swap, &link))
			continue;
		if (!link.name[0] || strlen(link.name) > DEBUG_LINK_NAME_MAX ||
		    strchr(link.name, '/'))
			abort();
	}
	if (debug_link_crc(0, data, size) !=
	    debug_link_crc(debug_link_crc(0, data, size / 3), data + size / 3,
			   size - size / 3))
		abort();
	if (module_line_find((const char *)data, size, "ext4", 0, &line))
		return 0;
	for (size_t i = 0; i < line.sections.nr; i++)
		if (!line.sections.at[i].address ||
		    strchr(line.sections.at[i].section, '='))
			abort();
	module_line_done(&line);
	return 0;
}
