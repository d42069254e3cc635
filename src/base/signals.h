/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals.h - signal handling of helper threads.
 * Layer: base. */
#pragma once
#include <signal.h>

/* Blocks, in the calling thread, the signals that other processes send. Threads it starts
 * inherit this, so that the main thread handles these signals. Signals that report a fault of
 * the thread itself stay unblocked, because the kernel ends a process that blocks such a
 * signal: SIGBUS (mapped.h), SIGSYS (daemon_calls.h) and similar. `ret_before` is the mask to
 * restore with pthread_sigmask(3). */
void signals_block_sent(sigset_t *ret_before);
