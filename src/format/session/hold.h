/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold.h - lets readers of a session that is still being recorded keep merged segments: these
 * are not removed while a reader that can have listed them is active.
 * Layer: format. */
#pragma once
#include <stdbool.h>

/* Returns a file descriptor, which the caller closes when it no longer reads below `dir`; -1 if
 * the file system has no such locks or the directory does not exist. */
int session_hold(const char *dir);
/* Returns true if any process holds the session. */
bool session_is_held(const char *dir);
