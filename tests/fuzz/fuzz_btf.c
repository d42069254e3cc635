/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_btf.c - reads any bytes as the type information of a BPF program; the first four bytes are
 * the number of the type to look up. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/source/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t id;
	const char *name;
	char *btf;

	if (size < sizeof(id))
		return 0;
	memcpy(&id, data, sizeof(id));
	size -= sizeof(id);
	/* A copy that is aligned like the kernel's reply and has exactly the size of the input, so
	 * that a read beyond its end is detected. */
	btf = malloc(size ? size : 1);
	if (!btf)
		return 0;
	memcpy(btf, data + sizeof(id), size);
	name = btf_name(btf, size, id);
	if (name && (name < btf || name + strlen(name) >= btf + size))
		abort();
	free(btf);
	return 0;
}
