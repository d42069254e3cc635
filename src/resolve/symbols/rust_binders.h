/* rust_binders.h - how many lifetimes a mangled Rust name (v0) introduces.
 * Layer: resolve.
 *
 * A type may begin with "G", a number in base 62 and "_": so many lifetimes, which demanglers
 * count out one by one.  Ten digits take years.
 * Source of the grammar: Rust RFC 2603, and "v0 Symbol Format" in The rustc book. */
#pragma once
#include <stdint.h>

/* All binders of `name` ("_R...") together; *ret_nr is UINT64_MAX where they do not fit.
 * -EBADMSG: it is not of the grammar, too deeply nested, or refers back to where nothing of
 * that kind began, so that nobody knows what a demangler would count. */
int rust_binders(const char *name, uint64_t *ret_nr);
