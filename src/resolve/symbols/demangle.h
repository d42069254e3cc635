/* demangle.h - names of C++, Rust, D and Java as a person wrote them.
 * Layer: resolve.  Uses libiberty. */
#pragma once
#include <stdbool.h>

/* The demangled name, malloc'd; NULL if `name` is not mangled (or too long, or memory is
 * short): the caller then shows `name`.
 * C++ comes with its parameters, as OProfile shows it.  What compilers append is kept in the
 * form of binutils: "_Z1fi.cold" is "f(int) [clone .cold]"; a symbol version too: "f()@@V1".
 * Rust's hash is dropped.  Java's names are those of JVMs ("La/B;f(I)V" is "a.B.f(int)")
 * and of GCJ.  A hostile name costs bounded time, stack and memory. */
char *demangle(const char *name);
/* Whether it begins as mangled names do: of others demangle() makes nothing. */
bool demangle_wants(const char *name);
/* As perf shows it: without the parameters of functions, and D not at all. */
char *demangle_plain(const char *name);
