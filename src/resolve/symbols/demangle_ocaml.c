/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle_ocaml.c - demangles names of OCaml's native compiler: "caml", the module's path with
 * "__" between its parts, then "__" (OCaml 4) or "." (OCaml 5.1 and later), the name, and "_"
 * and a number. "$xx" is a byte of an operator or of a non-ASCII letter, in hexadecimal. Like
 * perf, this keeps the number, which distinguishes functions of the same name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/demangle_priv.h"

static unsigned int demangle_ocaml_digit(char digit)
{
	return isdigit((unsigned char)digit)
		       ? (unsigned int)(digit - '0')
		       : (unsigned int)(tolower((unsigned char)digit) - 'a') + 10;
}

/* Returns the byte that "$xx" represents, or 0 for other text. OCaml writes no control characters
 * in this form. */
static unsigned char escaped_byte(const char *at)
{
	unsigned int byte;

	if (at[0] != '$' || !isxdigit((unsigned char)at[1]) ||
	    !isxdigit((unsigned char)at[2]))
		return 0;
	byte = demangle_ocaml_digit(at[1]) << 4 | demangle_ocaml_digit(at[2]);
	return iscntrl((int)byte) ? 0 : (unsigned char)byte;
}

bool is_ocaml_name(const char *name)
{
	return strncmp(name, "caml", 4) == 0 && isupper((unsigned char)name[4]);
}

char *demangle_ocaml(const char *name)
{
	char *result = malloc(strlen(name) + 1);
	char *out = result;

	if (!result)
		return NULL;
	for (name += 4; *name;) {
		unsigned char byte = escaped_byte(name);

		if (byte) {
			*out++ = (char)byte;
			name += 3;
		} else if (name[0] == '_' && name[1] == '_') {
			*out++ = '.';
			name += 2;
		} else {
			*out++ = *name++;
		}
	}
	*out = '\0';
	return result;
}
