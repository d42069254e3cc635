/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle_java.c - demangles signatures of Java methods. */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "resolve/symbols/demangle_priv.h"

/* Returns the name of a primitive type, or NULL (The Java Virtual Machine Specification, section
 * 4.3, descriptors). */
static const char *base_type(char letter)
{
	static const struct {
		char letter;
		const char *name;
	} types[] = {
		{ 'B', "byte" },  { 'C', "char" }, { 'D', "double" },
		{ 'F', "float" }, { 'I', "int" },  { 'J', "long" },
		{ 'S', "short" }, { 'V', "void" }, { 'Z', "boolean" },
	};

	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (types[i].letter == letter)
			return types[i].name;
	return NULL;
}

static void demangle_java_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* Appends the class name in "java/lang/String;" (after the L). Returns the position after it,
 * or NULL. */
static const char *put_class(struct buf *out, const char *at)
{
	const char *begin = at;

	for (; *at && *at != ';'; at++) {
		if (*at == '(' || *at == ')')
			return NULL;
		buf_put(out, *at == '/' ? "." : at, 1);
	}
	return *at == ';' && at > begin ? at + 1 : NULL;
}

static const char *demangle_java_put_type(struct buf *out, const char *at,
					  bool may_be_void)
{
	size_t nr_dimensions = strspn(at, "[");
	const char *base;

	at += nr_dimensions;
	if (*at == 'L') {
		at = put_class(out, at + 1);
	} else {
		base = base_type(*at);
		if (!base || (*at == 'V' && (nr_dimensions || !may_be_void)))
			return NULL;
		demangle_java_put_text(out, base);
		at++;
	}
	for (size_t i = 0; at && i < nr_dimensions; i++)
		demangle_java_put_text(out, "[]");
	return at;
}

/* Appends "(I[J)" as "(int, long[])". Returns the position after it, or NULL. */
static const char *put_parameters(struct buf *out, const char *at)
{
	bool first = true;

	demangle_java_put_text(out, "(");
	for (at++; at && *at != ')'; first = false) {
		if (!first)
			demangle_java_put_text(out, ", ");
		at = demangle_java_put_type(out, at, false);
	}
	demangle_java_put_text(out, ")");
	return at ? at + 1 : NULL;
}

static bool put_method(struct buf *out, const char *name)
{
	struct buf result = { 0 };
	size_t len;

	name = put_class(out, name + 1);
	if (!name)
		return false;
	len = strcspn(name, "();[/.");
	if (!len || name[len] != '(')
		return false;
	demangle_java_put_text(out, ".");
	buf_put(out, name, len);
	name = put_parameters(out, name + len);
	if (name)
		name = demangle_java_put_type(&result, name, true);
	buf_done(&result);
	return name && !*name;
}

char *demangle_jvm(const char *name)
{
	struct buf out = { 0 };

	if (name[0] == 'L' && put_method(&out, name)) {
		buf_put(&out, "", 1);
		if (!out.failed)
			return (char *)out.data;
	}
	buf_done(&out);
	return NULL;
}

bool is_gcj_name(const char *name)
{
	if (strncmp(name, "_ZN", 3) != 0)
		return false;
	name += 3;
	/* Packages, class and method are plain names; only a constructor's is not. */
	while (isdigit((unsigned char)*name)) {
		size_t len = 0;

		for (; isdigit((unsigned char)*name) && len < INT16_MAX; name++)
			len = len * 10 + (size_t)(*name - '0');
		if (strnlen(name, len) < len)
			return false;
		name += len;
	}
	if (*name == 'C' && name[1] >= '1' && name[1] <= '3')
		name += 2;
	return name[0] == 'E' && name[1] == 'J';
}
