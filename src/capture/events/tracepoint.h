/* tracepoint.h - a tracepoint of the kernel, as tracefs describes it.
 * Layer: capture. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct tracepoint {
	uint64_t id;      /* perf_event_attr.config */
	uint32_t name_at; /* in the raw data: where field "name" is described */
};

/* Reads events/WHICH ("module/module_load") where tracefs is mounted.  0; -ENOENT: it is not
 * there; or another negative errno. */
int tracepoint_read(const char *which, struct tracepoint *ret_tracepoint);
/* The same of the text of the file `format`, which is terminated.  0 or -EBADMSG. */
int tracepoint_parse(const char *format, struct tracepoint *ret_tracepoint);
/* The string field "name" in the raw data of a sample, NULL: there is none.  Borrowed. */
const char *tracepoint_name(const struct tracepoint *t, const void *raw, size_t len);
