/* call_focus.h - the functions that --focus means.
 * Layer: present. */
#pragma once
#include <stdint.h>

struct err;
struct profile;

/* ret[function] is set for those whose name, as in the symbol table or as shown, with or without
 * its parameters, is `name`, or matches it as a pattern of the shell.  The caller frees *ret.
 * 0, -ENOMEM, or -ENOENT: no function of the stacks is meant, and a line that says so. */
int call_focus_find(struct profile *p, const char *name, uint8_t **ret,
		    struct err *err);
