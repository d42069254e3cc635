/* SPDX-License-Identifier: GPL-2.0-or-later */
/* async_call.h - runs calls that can hang: those that access a file on a server that does not
 * respond, or memory of a process that is mapped from such a file. A separate thread makes the
 * call, and is abandoned if it hangs.
 * Layer: base. Only one thread of a process may use it; each call runs in a separate thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum async_call_kind {
	ASYNC_CALL_FILE,
	ASYNC_CALL_MEMORY,
	ASYNC_CALL_KINDS
};

/* Values of `user` that are not user ids: ASYNC_CALL_OWN for the caller or root,
 * ASYNC_CALL_UNKNOWN for a process that has ended. */
#define ASYNC_CALL_OWN UINT64_MAX
#define ASYNC_CALL_UNKNOWN (UINT64_MAX - 1)

/* The header of a request, which is allocated together with all data of the call. */
struct async_call {
	enum async_call_kind kind;
	/* Identifies the object that can hang, such as a device. While a call on an object hangs,
	 * no other call of the same kind and user on this object is started. */
	uint64_t about;
	/* The user whose file is accessed. For each user, the number of hanging calls is limited,
	 * and also the time that the caller waits for calls. For ASYNC_CALL_OWN, that time is not
	 * limited. */
	uint64_t user;
	void (*run)(struct async_call *call);
	/* Frees the request and its results after the caller stopped waiting. Called by the
	 * thread. */
	void (*drop)(struct async_call *call);
};

/* Runs `call` in a thread and waits for its end: up to `patience_ns`, or only a hundredth of a
 * second if the calls of the same user took much time recently. Returns 0 if the call has ended;
 * the caller owns it again. Returns -ETIMEDOUT if it is still running; the caller no longer owns
 * it. Otherwise the call was not started and the caller still owns it: -EBUSY if another call of
 * the same kind and user on the same object hangs, or too many calls of its kind hang, in total or
 * for its user; -ENOMEM or -EAGAIN if no thread could be created. */
int async_call_run(struct async_call *call, uint64_t patience_ns);
/* Returns the number of calls that currently hang. */
unsigned int async_call_nr_hanging(void);
