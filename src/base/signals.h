/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals.h - the signals of helper threads.
 * Layer: base. */
#pragma once
#include <signal.h>

/* Blocks the signals that other processes send in the calling thread, for threads that it starts: the main
 * thread handles them.  Signals that report a fault of the thread itself stay unblocked, as the kernel ends a
 * process that blocks one of those: SIGBUS (mapped.h), SIGSYS (daemon_calls.h) and the like.  `ret_before`: the
 * mask to restore by pthread_sigmask(3). */
void signals_block_sent(sigset_t *ret_before);
