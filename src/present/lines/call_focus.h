/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_focus.h - finds the functions that --focus selects.
 * Layer: present. */
#pragma once
#include <stdint.h>

struct err;
struct profile;

/* Sets ret[function] for each function whose raw or displayed name equals `name`, with or
 * without parameters, or matches `name` as a shell pattern.  The caller frees *ret.  Returns 0,
 * -ENOMEM, or -ENOENT with a message if no function matches. */
int call_focus_find(struct profile *p, const char *name, uint8_t **ret,
		    struct err *err);
