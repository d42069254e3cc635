/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rust_binders.h - counts the lifetimes that a mangled Rust name (v0) introduces.
 * Layer: resolve.
 *
 * A type can begin with "G", a number in base 62 and "_": the number of its lifetimes.
 * Demanglers count them one by one, which takes years for ten digits.
 * Source of the grammar: Rust RFC 2603, and "v0 Symbol Format" in The rustc book. */
#pragma once
#include <stdint.h>

/* Counts the lifetimes of all binders in `name` ("_R..."); *ret_nr is UINT64_MAX after an
 * overflow. Returns 0, or -EBADMSG if the name does not match the grammar, is too deeply
 * nested, or has a back reference to a position where no element of that kind begins. In these
 * cases the count of a demangler is unknown. */
int rust_binders(const char *name, uint64_t *ret_nr);
