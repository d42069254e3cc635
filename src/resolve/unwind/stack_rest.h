/* stack_rest.h - the part of a stack that lies behind what was copied of it, from the memory of
 * its process while that lives.
 * Layer: resolve.
 *
 * The process runs on meanwhile.  What is read is believed only if the return addresses that the
 * unwinder met last in the copy are in memory, too, at the same places: the frames behind them
 * have not ended, or have come again in the same way.  Whether the stack so found is whole is for
 * the caller to see: rules that meet other words hardly ever lead to a root. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_window;

enum {
	STACK_REST_NOTES = 64,
	STACK_REST_BYTES = 32768 /* read at a time */
};

/* Copies memory of a process; returns the bytes that there were. */
typedef size_t (*stack_rest_copy)(void *ctx, int32_t pid, uint64_t address, void *bytes,
				  size_t len);

struct stack_rest {
	/* The caller's, for all stacks. */
	stack_rest_copy copy;
	void *ctx;
	bool (*is_code)(void *ctx, uint64_t address);
	void *code_ctx;
	int32_t pid;
	/* Of this stack. */
	const struct unwind_window *window;
	unsigned int bytes_of_word;
	uint64_t notes
		[STACK_REST_NOTES]; /* words of the window asked for, the last ones */
	unsigned int nr_notes;
	bool checked;
	bool agrees;
	uint64_t start; /* of what was read last */
	size_t len;
	uint8_t bytes[STACK_REST_BYTES];
};

/* Begins a stack; `window` and what the caller has set outlive it. */
void stack_rest_begin(struct stack_rest *s, const struct unwind_window *window,
		      bool is64);
/* As struct unwind_ops' read, for all of the stack, the window included.  `ctx`: the stack_rest. */
bool stack_rest_read(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value);
