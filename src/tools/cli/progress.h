/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.h - one line on the terminal of the standard error that says how far long work is.
 * Layer: tools.  Shown after a second, rewritten a few times a second, cleared at the end, by
 * every message (command_error() and the like) and by a signal that ends the program.
 * Without a terminal nothing happens.  State of the process; for the main thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Begins work; `what` ("reading") outlives it. */
void progress_begin(const char *what);
/* Bytes done of how many; 0: nobody knows.  Cheap: call it for every block or chunk. */
void progress_bytes(uint64_t done, uint64_t total);
/* Another line for what goes on meanwhile: "fetched 1 of 3 files". */
void progress_words(const char *words);
void progress_end(void);
/* Clears the line; it comes back with the next progress_bytes(). */
void progress_hide(void);

/* The text of the line in at most `room` - 1 bytes: "opreport: reading 12.5 MB of 1.0 GB
 * (1 %)".  More than the total is shown as the total. */
void progress_text(char *out, size_t room, const char *what, uint64_t done,
		   uint64_t total);
