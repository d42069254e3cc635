/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sleepers N - N processes that sleep until standard input ends. Prints "ready" when all of
 * them exist. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

int main(int argc, char **argv)
{
	unsigned int nr = work_argument(argc, argv, 1, 100), started;
	pid_t *pids = calloc(nr ? nr : 1, sizeof(*pids));

	if (!pids)
		work_die("calloc");
	for (started = 0; started < nr; started++) {
		pids[started] = fork();
		if (pids[started] < 0)
			break;
		if (pids[started] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	puts(started == nr ? "ready" : "too few");
	fflush(stdout);
	while (started == nr && getchar() != EOF)
		;
	for (unsigned int i = 0; i < started; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	free(pids);
	if (started < nr)
		work_skip("so many processes cannot be started here");
	return 0;
}
