/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals.h - signal handling of helper threads.
 * Layer: base. */
#pragma once
#include <signal.h>

/* Blocks, in the calling thread, the signals that other processes send. Threads that it starts
 * inherit this, so the main thread handles these signals. Signals for faults of the thread itself,
 * such as SIGBUS (mapped.h) and SIGSYS (daemon_calls.h), stay unblocked: if they were blocked, the
 * kernel would end the process. Stores the previous mask in *ret_before, for pthread_sigmask(3). */
void signals_block_sent(sigset_t *ret_before);
