/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_rest.h - reads the part of a stack after the copied part from the memory of the
 * process, if it still runs.
 * Layer: resolve.
 *
 * The process continues to run meanwhile. Its memory is used only if it contains, at the same
 * addresses, the return addresses that the unwinder found last in the copy. Then the frames
 * after them have not ended, or were entered again in the same way. The caller must check
 * whether the resulting stack is complete: with changed words, the rules hardly ever lead to a
 * root. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_window;

enum {
	STACK_REST_NOTES = 64,
	STACK_REST_BYTES = 32768 /* read at once */
};

/* Copies memory of a process; returns the number of bytes copied. */
typedef size_t (*stack_rest_copy)(void *ctx, int32_t pid, uint64_t address, void *bytes,
				  size_t len);

struct stack_rest {
	/* Set by the caller, for all stacks. */
	stack_rest_copy copy;
	void *ctx;
	bool (*is_code)(void *ctx, uint64_t address);
	void *code_ctx;
	int32_t pid;
	/* State for the current stack. */
	const struct unwind_window *window;
	unsigned int bytes_of_word;
	uint64_t notes
		[STACK_REST_NOTES]; /* the last words of the window that were read */
	unsigned int nr_notes;
	bool checked;
	bool agrees;
	uint64_t start; /* address of `bytes` */
	size_t len;
	uint8_t bytes[STACK_REST_BYTES];
};

/* Begins a stack; `window` and the values set by the caller must outlive it. */
void stack_rest_begin(struct stack_rest *s, const struct unwind_window *window,
		      bool is64);
/* Implements read() of struct unwind_ops, for the whole stack including the window. `ctx` is the
 * stack_rest. Returns false if the word cannot be read. */
bool stack_rest_read(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value);
