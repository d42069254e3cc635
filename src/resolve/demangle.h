/* demangle.h - C++ and Rust names as a person wrote them.
 * Layer: resolve.  Uses libiberty. */
#pragma once

/* The demangled name, malloc'd, with kernel- and compiler-made suffixes (.cold,
 * .constprop.0, .isra.0 ...) kept as OProfile and perf show them; NULL if `name` is not
 * mangled (or memory is short): the caller then shows `name`. */
char *demangle(const char *name);
