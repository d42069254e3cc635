/* SPDX-License-Identifier: GPL-2.0-or-later */
/* params.h - the parameters of a query: names with values, as docs/view-api.md lists them.
 * Layer: view. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;

struct view_param {
	const char *name;
	const char *value;
};

/* A name can occur several times. */
struct view_params {
	const struct view_param *at;
	size_t nr;
};

/* Returns the first value with this name, or NULL. */
const char *view_params_get(const struct view_params *p, const char *name);
/* Store the value of a parameter: a number, or a share from 0 to 1. If the parameter is missing,
 * leave *value unchanged. Return 0, or
 * -EINVAL with a message in *err. */
int view_params_u64(const struct view_params *p, const char *name, uint64_t *value,
		    struct err *err);
int view_params_share(const struct view_params *p, const char *name, double *value,
		      struct err *err);
