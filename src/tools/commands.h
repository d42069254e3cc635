/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.h - the registry of commands.
 * Layer: tools. */
#pragma once
#include "tools/cli/command.h"

extern const struct command *const commands[]; /* NULL-terminated */

/* Finds a command by its name or classic name; NULL if not found. */
const struct command *command_find(const char *name);
