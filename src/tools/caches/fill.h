/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fill.h - an index that a command left in parts is completed by a process of its own,
 * which goes on after the command has ended and takes what is left of the CPU.
 * Layer: tools. */
#pragma once

/* Starts `oprofile cache --build --background BINARY`, unless $OPROFILE_CACHE_FILL is "no".
 * That it cannot be started is no error: the next command reads what it needs. */
void cache_fill_start(const char *binary);
/* Makes this process such a one.  0; -EBUSY: another one is at work in the folder; or what
 * an open says. */
int cache_fill_become(const char *dir);
