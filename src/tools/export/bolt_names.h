/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bolt_names.h - functions of a binary as BOLT calls them: a local one is NAME/1, the next one of that
 * name NAME/2, by address.
 * Layer: tools. */
#pragma once
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/strtab.h"

struct err;

struct bolt_names {
	struct strtab names;
	struct map local_by; /* link-time address -> name, of local functions */
};

/* 0, -ENOTSUP (BOLT does not know its machine), -EBADMSG or another negative errno, with a line. */
int bolt_names_read(struct bolt_names *n, const char *path, struct err *err);
void bolt_names_done(struct bolt_names *n);
/* The name of a function at an address, which the symbol table calls `name`. */
const char *bolt_names_find(const struct bolt_names *n, uint64_t vaddr,
			    const char *name);
