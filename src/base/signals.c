/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/signals.h"

#include <stddef.h>

#include "base/array.h"

static const int faults[] = {
	SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
};

void signals_block_sent(sigset_t *ret_before)
{
	sigset_t sent;

	sigfillset(&sent);
	for (size_t i = 0; i < COUNT_OF(faults); i++)
		sigdelset(&sent, faults[i]);
	pthread_sigmask(SIG_SETMASK, &sent, ret_before);
}
