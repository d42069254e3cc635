/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bolt_names.h - names the functions of a binary as BOLT does: local functions are NAME/1, NAME/2
 * and so on, by address.
 * Layer: present. */
#pragma once
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/strtab.h"

struct err;

struct bolt_names {
	struct strtab names;
	struct map local_by; /* link-time address -> name of a local function */
};

/* Reads the names of local functions from a binary. Returns 0, -ENOTSUP (BOLT does not support the
 * machine), -EBADMSG or another negative errno, with a message in *err. */
int bolt_names_read(struct bolt_names *n, const char *path, struct err *err);
void bolt_names_done(struct bolt_names *n);
/* Returns BOLT's name of the function at an address, which the symbol table calls `name`. */
const char *bolt_names_find(const struct bolt_names *n, uint64_t vaddr,
			    const char *name);
