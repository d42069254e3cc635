/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_fields.h - selects the sample fields that `oprofile script` prints: perf script's
 * names, defaults and -F.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_TID = 1 << 1,
	SCRIPT_PID = 1 << 2,
	SCRIPT_TIME = 1 << 3,
	SCRIPT_CPU = 1 << 4,
	SCRIPT_EVENT = 1 << 5,
	SCRIPT_IP = 1 << 6,
	SCRIPT_SYM = 1 << 7,
	SCRIPT_DSO = 1 << 8,
	SCRIPT_ADDR = 1 << 9,
	SCRIPT_SYMOFF = 1 << 10,
	SCRIPT_PERIOD = 1 << 11,
	SCRIPT_BRSTACK = 1 << 12,
	SCRIPT_BRSTACKSYM = 1 << 13,
	SCRIPT_WEIGHT = 1 << 14,
	SCRIPT_INS_LAT = 1 << 15,
	SCRIPT_PHYS_ADDR = 1 << 16,
	SCRIPT_DATA_PAGE_SIZE = 1 << 17,
	SCRIPT_CODE_PAGE_SIZE = 1 << 18,
	SCRIPT_MISC = 1 << 19,
	SCRIPT_CGROUP = 1 << 20 /* perf 6.8 and later */
};

/* The attributes of an event that its fields depend on. */
struct script_event {
	const char *name;
	/* Type of its perf_event_attr; the next two are also from the attr. */
	uint32_t type;
	uint64_t config;
	uint64_t sample_type;
};

/* Sets the fields of each event: ret_fields[nr], SCRIPT_...  `spec` is the argument of -F, NULL
 * for the defaults: "comm,tid,ip" replaces them, "+addr,-cpu" changes them.  `chains`: show call
 * chains if they were recorded.  Fields that the samples lack are omitted.  Returns 0, or
 * -EINVAL with a message if `spec` names such a field or an unknown one. */
int script_fields(const struct script_event *events, size_t nr, const char *spec,
		  bool chains, uint32_t *ret_fields, struct err *err);
/* Appends the names, separated by commas, for a help text. */
void script_fields_list(struct buf *out);
