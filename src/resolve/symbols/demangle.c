/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "resolve/symbols/demangle_priv.h"
#include "resolve/symbols/rust_binders.h"

enum {
	MANGLED_MAX = 8192,
	LIFETIMES_MAX = 1000, /* real programs use a few */
	/* Limit of the demangled text. A short mangled name can expand to a text of any length,
	 * because components can refer to earlier ones twice. */
	DEMANGLED_MAX = 64 * 1024,
	/* C++ with parameters and const, as OProfile shows it. libiberty's own recursion limit
	 * stays enabled: it also refuses C++ names of more than 1024 bytes, as in perf and nm. */
	FULL = DMGL_PARAMS | DMGL_ANSI,
	GCJ = DMGL_JAVA | DMGL_PARAMS | DMGL_RET_DROP,
	PLAIN = DMGL_NO_OPTS
};

struct demangle_output {
	struct buf text;
	jmp_buf too_long;
};

/* Receives a part of the name from libiberty. Its callback cannot stop the demangler, so it jumps
 * out if the name gets too long. This leaks one identifier if a Rust name has both punycode and
 * more than DEMANGLED_MAX of text, else nothing. */
static void take_piece(const char *piece, size_t len, void *ctx)
{
	struct demangle_output *out = ctx;

	if (out->text.len + len > DEMANGLED_MAX)
		longjmp(out->too_long, 1);
	buf_put(&out->text, piece, len);
}

static bool print_d(const char *name, struct demangle_output *out)
{
	char *text = demangle_d(name);

	if (!text)
		return false;
	buf_put(&out->text, text, strlen(text));
	free(text);
	return true;
}

static bool print_demangled(const char *name, int options, struct demangle_output *out)
{
	if (setjmp(out->too_long)) /* NOLINT(cert-err52-cpp): see take_piece() */
		return false;
	/* Legacy Rust names are C++ names followed by a hash, so try the Rust demangler first. */
	if (options != GCJ && rust_demangle_callback(name, options, take_piece, out))
		return true;
	buf_clear(&out->text);
	return cplus_demangle_v3_callback(name, options, take_piece, out) != 0;
}

static bool print_any(const char *name, int options, struct demangle_output *out)
{
	if (name[1] == 'D')
		return options == FULL && print_d(name, out);
	if (options == FULL && is_gcj_name(name))
		options = GCJ;
	return print_demangled(name, options, out);
}

/* Returns whether a name can be a mangled one: only those with these prefixes can. Without this
 * test, some demanglers would parse C names such as "f" as types. It also is a fast answer for
 * most names of C programs. */
static bool looks_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
	       strncmp(name, "_D", 2) == 0 || strncmp(name, "_GLOBAL_", 8) == 0;
}

/* Returns whether `name`, which rust_binders() cannot parse, seems to contain a binder of more
 * than one digit. Demanglers could count any number of lifetimes there. */
static bool may_bind_many(const char *name)
{
	for (const char *g = strchr(name, 'G'); g; g = strchr(g + 1, 'G')) {
		const char *end = g + 1;

		while (isalnum((unsigned char)*end))
			end++;
		if (*end == '_' && end - g > 2)
			return true;
	}
	return false;
}

/* Returns whether a Rust name (v0) has too many lifetimes: libiberty counts them one by one,
 * even where it prints nothing. */
static bool binds_many_lifetimes(const char *name)
{
	uint64_t nr;

	if (strncmp(name, "_R", 2) != 0)
		return false;
	return rust_binders(name, &nr) ? may_bind_many(name) : nr > LIFETIMES_MAX;
}

/* Returns the demangled text followed by `version` ("", "@VERS", "@@VERS"), malloc'd. */
static char *demangle_base(const char *name, const char *version, int options)
{
	struct demangle_output out = { 0 };
	char *result = NULL;

	if (print_any(name, options, &out) && out.text.len) {
		buf_put(&out.text, version, strlen(version) + 1);
		if (!out.text.failed) {
			result = (char *)out.text.data;
			out.text.data = NULL;
		}
	}
	buf_done(&out.text);
	return result;
}

bool demangle_wants(const char *name)
{
	return name[0] == 'L' || is_ocaml_name(name) || looks_mangled(name);
}

static char *demangle_with(const char *name, int options)
{
	const char *version;
	size_t len;
	char *base;
	char *result;

	if (name[0] == 'L')
		return demangle_jvm(name);
	if (!is_ocaml_name(name) && !looks_mangled(name))
		return NULL;
	len = strnlen(name, MANGLED_MAX + 1);
	if (len <= MANGLED_MAX && is_ocaml_name(name))
		return demangle_ocaml(name);
	if (len > MANGLED_MAX || binds_many_lifetimes(name))
		return NULL;
	version = strchr(name, '@');
	if (!version)
		return demangle_base(name, "", options);
	base = strndup(name, (size_t)(version - name));
	if (!base)
		return NULL;
	result = demangle_base(base, version, options);
	free(base);
	return result;
}

char *demangle(const char *name)
{
	return demangle_with(name, FULL);
}

char *demangle_plain(const char *name)
{
	return demangle_with(name, PLAIN);
}
