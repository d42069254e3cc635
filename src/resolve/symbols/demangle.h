/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle.h - demangles names of C++, Rust, D, Java and OCaml.
 * Layer: resolve. Uses libiberty. */
#pragma once
#include <stdbool.h>

/* Returns the demangled name (malloc'd). Returns NULL if `name` is not mangled, too long, or
 * out of memory; the caller then shows `name`.
 * C++ names have their parameters, as in OProfile. Suffixes added by compilers have the form of
 * binutils: "_Z1fi.cold" is "f(int) [clone .cold]"; so do symbol versions: "f()@@V1". The hash
 * of Rust names is dropped. Java names are those of JVMs ("La/B;f(I)V" is "a.B.f(int)") and of
 * GCJ. Time, stack and memory are bounded even for hostile names. */
char *demangle(const char *name);
/* Returns whether `name` begins like a mangled name. demangle() returns NULL for all others. */
bool demangle_wants(const char *name);
/* Like demangle(), but as perf shows names: functions without their parameters, and D names not
 * demangled. */
char *demangle_plain(const char *name);
