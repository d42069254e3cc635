/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle_priv.h - demanglers for single languages.
 * Layer: resolve, only for demangle*.c. */
#pragma once
#include <stdbool.h>

/* Demangles a D name ("_D3std5stdio..."). Returns malloc'd text, or NULL if libiberty cannot
 * parse it or the work would exceed a limit. */
char *demangle_d(const char *name);
/* Demangles a method as JVMs name it, with its descriptor: "Ljava/lang/String;charAt(I)C" is
 * "java.lang.String.charAt(int)". Returns malloc'd text, or NULL if it is not such a name. */
char *demangle_jvm(const char *name);
/* Returns whether GCC's Java compiler made this name in the C++ scheme: "_ZN4java...EJvv". */
bool is_gcj_name(const char *name);
/* Returns whether OCaml's native compiler made this name: "camlStdlib__List__map_123". */
bool is_ocaml_name(const char *name);
/* Demangles a name of OCaml: camlStdlib__List__map_123 is "Stdlib.List.map_123". Returns malloc'd
 * text, or NULL if out of memory. */
char *demangle_ocaml(const char *name);
