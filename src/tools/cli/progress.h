/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.h - shows the progress of long work in one line on the terminal of standard error.
 * Layer: tools.  The line appears after a second and is updated a few times a second.  It is
 * cleared at the end, by every message (command_error() and similar), and by a signal that
 * terminates the program.  Without a terminal, nothing is shown.  Global state, for the main
 * thread only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Call when work begins. `what`, such as "reading", describes it and must stay valid until
 * progress_end(). */
void progress_begin(const char *what);
/* Sets the number of bytes done and in total (0: unknown).  Cheap enough to call for every block.
 */
void progress_bytes(uint64_t done, uint64_t total);
/* Shows a text about other work that runs meanwhile, such as "fetched 1 of 3 files". */
void progress_words(const char *words);
void progress_end(void);
/* Clears the line; the next progress_bytes() shows it again. */
void progress_hide(void);

/* Formats the line in at most `room` - 1 bytes: "opreport: reading 12.5 MB of 1.0 GB (1 %)".
 * Limits `done` to the total. */
void progress_text(char *out, size_t room, const char *what, uint64_t done,
		   uint64_t total);
