/* flatten.h - nested ranges of scopes become spans that do not overlap.
 * Layer: resolve, for dwarf/scopes.c alone. */
#pragma once
struct dwarf_scopes;

/* Fills spans from ranges (which it reorders): at each address the scope that came last in
 * the tree, that is the innermost.  0 or -ENOMEM. */
int dwarf_flatten(struct dwarf_scopes *s);
