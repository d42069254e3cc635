/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold.h - protects the readers of a session that is still being recorded: segments that were
 * merged are not removed while a reader is active that could have listed them before.
 * Layer: format. */
#pragma once
#include <stdbool.h>

/* Marks the session `dir` as being read. Returns a file descriptor, which the caller closes when
 * it has finished reading, or -1 if the directory does not exist or its file system does not
 * support locks. */
int session_hold(const char *dir);
/* Returns whether any process is reading the session. */
bool session_is_held(const char *dir);
