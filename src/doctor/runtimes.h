/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runtimes.h - programs that interpret or compile other programs.
 * Layer: doctor. */
#pragma once
#include <stdbool.h>

#define JAVA_FIX                                                                       \
	"export JAVA_TOOL_OPTIONS='-XX:+PreserveFramePointer "                         \
	"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'"

enum runtime_kind {
	RUNTIME_INTERPRETER, /* functions of the program are not functions of the machine */
	RUNTIME_JIT          /* they are, but no file has their names */
};

struct runtime {
	const char *name;
	enum runtime_kind kind;
	const char *fix; /* makes it write names; NULL: it cannot */
};

/* Finds a runtime by the name of its program; NULL: none is known. */
const struct runtime *runtime_find(const char *name);
/* Returns whether the environment makes the runtime write names. */
bool runtime_is_set_up(const struct runtime *r);
