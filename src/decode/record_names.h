/* record_names.h - what perf calls its kinds of records.
 * Layer: decode. */
#pragma once
#include <stdint.h>

/* "MMAP2", "SAMPLE", "FINISHED_ROUND"; NULL for a type that nobody knows.  simpleperf's own
 * (from 32768 on) are "KERNEL_SYMBOL" ... */
const char *record_name(uint32_t type);
