/* SPDX-License-Identifier: GPL-2.0-or-later */
/* a64_leaf.h - finds the caller of AArch64 code without unwind information while its return address
 * is in the link register: leaf functions in assembly, and the first instructions of others.
 * Layer: resolve. No state.
 *
 * The instructions from the program counter must lead to a return that uses the link register as it
 * is, and the instruction before the return address must be a call: of code that leads to the
 * program counter without a change of the link register, of a PLT entry, or of an unknown address.
 * So no caller is guessed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct unwind_bare_ops;

/* Returns whether `link`, the value of the link register at `pc`, is the return address of a call
 * that can have led to `pc`, and sets *ret_sp to the bytes between the stack pointer at `pc` and
 * that of the caller. */
bool a64_leaf_caller(const struct unwind_bare_ops *ops, uint64_t pc, uint64_t link,
		     int64_t *ret_sp);
