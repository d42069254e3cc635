/* rust_binders.h - counts the lifetimes that a mangled Rust name (v0) introduces.
 * Layer: resolve. */
#pragma once
#include <stdint.h>

/* Counts the lifetimes of all binders in `name` ("_R..."); *ret_nr is UINT64_MAX after an
 * overflow. Returns 0, or -EBADMSG if the name does not match the grammar, is too deeply
 * nested, or has a back reference to a position where no element of that kind begins. In these
 * cases the count of a demangler is unknown. */
int rust_binders(const char *name, uint64_t *ret_nr);
