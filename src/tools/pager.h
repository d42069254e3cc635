/* pager.h - long output on a terminal goes through a pager, as git's does.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: none is running */
	FILE *out; /* where the output goes: the pager, or stdout */
};

/* Starts $OPROFILE_PAGER, else $PAGER, else less, if `wanted` and stdout and stderr are
 * terminals.  An empty variable, or "cat", means none; one that cannot be started, too.
 * `less` gets the options FRX unless $LESS says otherwise: it leaves at once what fits the
 * screen. */
void pager_start(struct pager *p, bool wanted);
/* Closes the pipe and waits for the reader to leave.  Errors of writing to it are none: the
 * reader may have seen enough. */
void pager_end(struct pager *p);
