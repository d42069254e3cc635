/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runtimes.h - programs that interpret or compile other programs.
 * Layer: doctor. */
#pragma once
#include <stdbool.h>

#define JAVA_FIX                                                                       \
	"export JAVA_TOOL_OPTIONS='-XX:+PreserveFramePointer "                         \
	"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'"

enum runtime_kind {
	/* samples are in the interpreter, not in functions of the interpreted program */
	RUNTIME_INTERPRETER,
	/* the program's functions become machine code, but no file has their names */
	RUNTIME_JIT
};

struct runtime {
	const char *name;
	enum runtime_kind kind;
	/* the command that makes the runtime write names; NULL: it cannot */
	const char *fix;
};

/* Finds a runtime by the name of its program; NULL: none is known. */
const struct runtime *runtime_find(const char *name);
/* Returns whether the environment makes the runtime write names. */
bool runtime_is_set_up(const struct runtime *r);
