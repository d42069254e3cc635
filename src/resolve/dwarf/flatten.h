/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flatten.h - converts nested ranges of scopes to spans that do not overlap.
 * Layer: resolve, only for dwarf/scopes.c. */
#pragma once
struct dwarf_scopes;

/* Fills the spans of `s` from its ranges, which it reorders. At each address, the result is the
 * covering scope that comes last in the tree, which is the innermost. Returns 0 or -ENOMEM. */
int dwarf_flatten(struct dwarf_scopes *s);
