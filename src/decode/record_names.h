/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_names.h - perf's names of record types.
 * Layer: decode. */
#pragma once
#include <stdint.h>

/* Returns "MMAP2", "SAMPLE", "FINISHED_ROUND", or NULL for an unknown type. simpleperf's types
 * (from 32768) are "KERNEL_SYMBOL" ... */
const char *record_name(uint32_t type);
