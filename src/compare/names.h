/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - finds the part of a function's name that does not change when the program is rebuilt.
 * Layer: compare. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the name without the suffixes that compilers append to copies and
 * fragments of a function: f.constprop.0, f.isra.0, f.part.0, f.cold, f.llvm.123, f.lto_priv.0,
 * "f(int) [clone .cold]", and Rust's ::h0123456789abcdef. */
size_t name_stable_len(const char *name);
/* Returns whether `name` is the name of a function, not just its address or section. */
bool name_is_function(const char *name);
