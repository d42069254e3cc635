/* table_answers.h - what the daemon makes of what the helper for unwind tables says, which may have been taken
 * over by a binary that it read.
 * Layer: record. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct unwind_table;

struct table_answers {
	int fd;                       /* -1: there is nobody */
	uint64_t number;              /* of the last question */
	uint64_t worker_ns;           /* as this worker said last; 0: it is a new one */
	atomic_uint_least64_t cpu_ns; /* of all so far; any thread may read it */
	bool told;                    /* that it is not confined */
	atomic_bool gives_up;         /* by any thread: who waits is not to */
};

/* Drops what an earlier question left. */
void table_answers_drain(struct table_answers *a);
/* Waits for what comes of the last question, asked at `since_ns`.  0 and a table; or there is none: what
 * table_answers_is_fault() or table_answers_is_silence(), or another negative errno that the worker
 * says (-EBADMSG: it says nothing that makes sense); -ECANCELED: it gave up. */
int table_answers_wait(struct table_answers *a, uint64_t since_ns,
		       struct unwind_table **ret_table);
/* It is the binary's fault: the worker died of a signal (-EPIPE), or of that of its time (-ETIME). */
bool table_answers_is_fault(int r);
/* It may be of the machine, or of an earlier binary: the worker ended by itself (-ECHILD), so did the keeper,
 * or it was no answer (-ECONNRESET), or there is none (-ETIMEDOUT). */
bool table_answers_is_silence(int r);
