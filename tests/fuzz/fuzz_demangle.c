/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_demangle.c - any bytes as a symbol's name, unchanged and with the prefixes that each
 * demangler expects. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const char *prefix, const uint8_t *data, size_t size)
{
	size_t prefix_len = strlen(prefix);
	char *name = malloc(prefix_len + size + 1);
	char *shown;

	if (!name)
		return;
	memcpy(name, prefix, prefix_len);
	if (size)
		memcpy(name + prefix_len, data, size);
	name[prefix_len + size] = '\0';
	shown = demangle(name);
	if (shown && !shown[0])
		abort();
	free(shown);
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look("", data, size);
	look("_Z", data, size);
	look("_R", data, size);
	look("_D", data, size);
	look("L", data, size);
	look("camlM", data, size);
	return 0;
}
