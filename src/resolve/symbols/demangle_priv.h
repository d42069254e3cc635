/* demangle_priv.h - readers of single languages' names.
 * Layer: resolve, for demangle*.c alone. */
#pragma once
#include <stdbool.h>

/* D ("_D3std5stdio...").  malloc'd; NULL: not one that libiberty can read, or one that would
 * grow beyond bounds. */
char *demangle_d(const char *name);
/* A method as JVMs name it, descriptor behind: "Ljava/lang/String;charAt(I)C" is
 * "java.lang.String.charAt(int)".  malloc'd; NULL: no such name. */
char *demangle_jvm(const char *name);
/* Whether a name of the C++ scheme was made by GCC's Java compiler: "_ZN4java...EJvv". */
bool is_gcj_name(const char *name);
