/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_wrap.h - detects failed allocations inside a library by the results of its functions.
 * Layer: base. */
#pragma once

/* Wraps a function; `failed` tests `result` for the library's out-of-memory error. */
#define NOTED_MEMORY(type, name, parameters, arguments, failed)                        \
	type __real_##name parameters;                                                 \
	type __wrap_##name parameters;                                                 \
	type __wrap_##name parameters                                                  \
	{                                                                              \
		type result = __real_##name arguments;                                 \
                                                                                       \
		if (failed)                                                            \
			failures_note_memory();                                        \
		return result;                                                         \
	}
