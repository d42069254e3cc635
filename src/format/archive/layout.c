/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/archive/layout.h"

#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "base/files/path.h"

static bool is_in(const char *name, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(name, dir, len) && (!name[len] || name[len] == '/');
}

static bool archive_layout_is_own(const char *name)
{
	static const char *const own[] = {
		ARCHIVE_MANIFEST_NAME, ARCHIVE_UNFINISHED_NAME, ARCHIVE_PART_NAME,
		ARCHIVE_VMLINUX,       ARCHIVE_CACHE,           ARCHIVE_MODULES,
		ARCHIVE_SAMPLES,
	};

	for (size_t i = 0; i < COUNT_OF(own); i++)
		/* Also match names of directories above: a file must not replace one. */
		if (is_in(name, own[i]) || is_in(own[i], name))
			return true;
	return false;
}

/* Returns whether resolve/find/binary.c or resolve/find/debug_link.c can search for a file at this
 * location. */
static bool is_debug(const char *name)
{
	static const char *const dirs[] = { "usr/lib/debug", "boot", "lib/modules",
					    "usr/lib/modules" };

	for (size_t i = 0; i < COUNT_OF(dirs); i++)
		if (is_in(name, dirs[i]))
			return true;
	return strstr(name, "/.debug/") || !fnmatch("*.debug", path_base(name), 0);
}

static bool is_jit(const char *name)
{
	const char *base = path_base(name);

	return !fnmatch("perf-*.map", base, 0) || !fnmatch("jit-*.dump", base, 0);
}

enum archive_name_use archive_name_use(const char *name)
{
	if (archive_layout_is_own(name))
		return ARCHIVE_NAME_OWN;
	if (is_debug(name))
		return ARCHIVE_NAME_DEBUG;
	return is_jit(name) ? ARCHIVE_NAME_JIT : ARCHIVE_NAME_PLAIN;
}

bool archive_name_cached(const char *name)
{
	return is_in(name, ARCHIVE_CACHE);
}

bool archive_name_defined(const char *name)
{
	static const char *const patterns[] = {
		ARCHIVE_MANIFEST_NAME,
		ARCHIVE_UNFINISHED_NAME,
		ARCHIVE_PART_NAME,
		ARCHIVE_VMLINUX,
		ARCHIVE_CACHE "/.build-id/[0-9a-f][0-9a-f]/*/elf",
		ARCHIVE_CACHE "/.build-id/[0-9a-f][0-9a-f]/*/debug",
		ARCHIVE_CACHE "/.build-id/[0-9a-f][0-9a-f]/*/vdso",
		ARCHIVE_CACHE "/\\[kernel.kallsyms\\]/*/kallsyms",
		ARCHIVE_MODULES "/*",
	};

	if (!archive_layout_is_own(name) ||
	    (is_in(name, ARCHIVE_SAMPLES) && strcmp(name, ARCHIVE_SAMPLES) != 0))
		return true;
	for (size_t i = 0; i < COUNT_OF(patterns); i++)
		if (!fnmatch(patterns[i], name, FNM_PATHNAME))
			return true;
	return false;
}
