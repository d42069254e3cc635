/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/version.h"

#include <elfutils/version.h>
#include <stddef.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "capture/events/catalog.h"
#include "capture/events/sources.h"
#include "daemon/controlfs/controlfs.h"
#include "format/archive/pack.h"
#include "format/foreign/json_walk.h"
#include "resolve/code/insn.h"
#include "resolve/elf/xz.h"
#include "resolve/find/http.h"
#include "serve/serve.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

struct version_part {
	const char *name;
	const char *use;
	const char
		*version; /* version of the headers used by the build; NULL: unknown */
};

static const struct version_part parts[] = {
	{ "elfutils", "ELF symbols", TEXT_OF(_ELFUTILS_VERSION) },
	{ "zstd", "compression of sessions", ZSTD_VERSION_STRING },
	{ "xxhash", "checksums of sessions",
	  TEXT_OF(XXH_VERSION_MAJOR) "." TEXT_OF(XXH_VERSION_MINOR) "." TEXT_OF(
		  XXH_VERSION_RELEASE) },
	{ "libiberty", "demangling of C++, Rust", NULL },
};

const char *version_string(void)
{
	return OPROFILE_VERSION;
}

void version_print(FILE *out)
{
	fprintf(out, "oprofile %s\nLibraries:\n", OPROFILE_VERSION);
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		fprintf(out, "  %-10s %-7s %s\n", parts[i].name,
			parts[i].version ? parts[i].version : "yes", parts[i].use);
	fprintf(out, "  %-10s %-7s %s\n", "liblzma", xz_version() ? xz_version() : "no",
		"symbols in .gnu_debugdata");
	fprintf(out, "  %-10s %-7s %s\n", "libbz2",
		packing_available(PACKING_BZIP2) ? "yes" : "no",
		"archives of perf archive");
	fprintf(out, "  %-10s %-7s %s\n", "yajl",
		json_walk_version() ? json_walk_version() : "no",
		"JSON profiles of other tools");
	fprintf(out, "  %-10s %-7s %s\n", "libcurl",
		http_version() ? http_version() : "no",
		"files from debuginfod servers, loaded when needed");
	fprintf(out, "  %-10s %-7s %s\n", "libopcodes",
		insn_has_opcodes() ? "yes" : "no",
		"instructions of x86 as objdump prints them, loaded when needed");
	fprintf(out, "  %-10s %-7s %s\n", "Zydis", insn_has_zydis() ? "yes" : "no",
		"instructions of x86 without libopcodes (others: LLVM, loaded when needed)");
	fprintf(out, "  %-10s %-7s %s\n", "libpfm",
		event_pfm_version() ? event_pfm_version() : "no",
		"names of events of x86, loaded when needed");
	fprintf(out, "  %-10s %-7s %s\n", "libfuse3",
		controlfs_version() ? controlfs_version() : "no",
		"control files of the daemon, loaded when needed");
	fprintf(out, "  %-10s %-7s %s\n", "microhttpd",
		serve_version() ? serve_version() : "no",
		"the page of oprofile view, loaded when needed");
	fputs("Sources of events:\n", out);
	for (const struct source_row *row = source_rows; row->name; row++)
		fprintf(out, "  %-18s %s%s\n", row->name, row->help,
			row->available() ? "" : " (not on this kernel)");
}
