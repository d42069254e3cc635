/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold.h - lets readers of a session that is still being recorded keep merged segments: these
 * are not removed while a reader that can have listed them is active.
 * Layer: format. */
#pragma once
#include <stdbool.h>

/* Marks the session `dir` as being read. Returns a file descriptor, which the caller closes when
 * it has finished reading; -1 if the file system does not support locks or the directory does not
 * exist. */
int session_hold(const char *dir);
/* Returns whether any process is reading the session. */
bool session_is_held(const char *dir);
