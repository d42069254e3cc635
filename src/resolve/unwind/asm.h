/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asm.h - unwind rules for x86-64 and i386 code that is in every program but lacks unwind
 * information: .init and .fini of crti.o and crtn.o, and glibc's clone(). The code is recognized
 * by its bytes.
 * Layer: resolve, for unwind tables.
 * Sources: glibc, sysdeps/x86_64/crti.S and crtn.S, sysdeps/i386/crti.S and crtn.S,
 * sysdeps/unix/sysv/linux/x86_64/clone.S and clone3.S. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct buf;
struct cfi_state;
struct elf_file;

/* Appends a .debug_frame for .init and .fini to `out`, or nothing if their code is not the
 * expected one. Call elf_file_sections() first. Returns 0 or -ENOMEM. */
int unwind_asm_crt(struct elf_file *f, struct buf *out);

enum {
	UNWIND_ASM_CLONE_MIN = 10, /* length of `code` in unwind_asm_clone() */
	UNWIND_ASM_CLONE_MAX = 32
};

/* `code` is the gap between the rules for clone() on x86-64, which end before the system call,
 * and the rules for the new thread. Returns the number of bytes up to the end of the call
 * instruction; 0 if it is other code. */
size_t unwind_asm_clone(const uint8_t *code, size_t len);
/* Returns the states before the call and after it; after it, rax distinguishes the new thread,
 * whose root this is, from the caller. *ret_code is the code of the expressions. */
void unwind_asm_clone_states(struct cfi_state *ret_before, struct cfi_state *ret_after,
			     const uint8_t **ret_code);
