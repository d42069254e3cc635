/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracepoint.h - a tracepoint of the kernel, as described by tracefs.
 * Layer: capture. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct tracepoint {
	uint64_t id; /* perf_event_attr.config */
	/* in the raw data: offset of the descriptor of the field "name" */
	uint32_t name_at;
};

/* Reads events/WHICH ("module/module_load") from tracefs, if that is mounted. Returns 0,
 * -ENOENT if it does not exist, or another negative errno. */
int tracepoint_read(const char *which, struct tracepoint *ret_tracepoint);
/* Like tracepoint_read(), but parses the NUL-terminated text of the file `format`. Returns 0 or
 * -EBADMSG. */
int tracepoint_parse(const char *format, struct tracepoint *ret_tracepoint);
/* Returns the string field "name" in a sample's raw data, borrowed from it, or NULL. */
const char *tracepoint_name(const struct tracepoint *t, const void *raw, size_t len);
