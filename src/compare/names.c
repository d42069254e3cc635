/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/names.h"

#include <string.h>

#include "base/array.h"

enum {
	RUST_HASH = 16 /* hex digits */
};

static size_t without_rust_hash(const char *name, size_t len)
{
	const char *start = name + len - RUST_HASH;

	if (len <= RUST_HASH + 3 || strncmp(start - 3, "::h", 3) != 0 ||
	    strspn(start, "0123456789abcdef") < RUST_HASH)
		return len;
	return len - RUST_HASH - 3;
}

size_t name_stable_len(const char *name)
{
	static const char *const suffixes[] = {
		".constprop.", ".isra.", ".part.", ".llvm.", ".lto_priv.", " [clone ."
	};
	static const char cold[] = ".cold";
	size_t len = strlen(name);

	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at != name && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	if (len > strlen(cold) &&
	    !strncmp(name + len - strlen(cold), cold, strlen(cold)))
		len -= strlen(cold);
	return without_rust_hash(name, len);
}

bool name_is_function(const char *name)
{
	return *name && strcmp(name, "(no symbols)") != 0 &&
	       strncmp(name, "0x", 2) != 0 &&
	       strncmp(name, "anonymous symbol", strlen("anonymous symbol")) != 0;
}
