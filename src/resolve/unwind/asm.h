/* asm.h - rules for code of x86-64 and i386 that has none, though every program has it: the
 * .init and .fini of crti.o and crtn.o, and glibc's clone().  It is known by its bytes.
 * Layer: resolve, for unwind tables.
 * Sources: glibc, sysdeps/x86_64/crti.S and crtn.S, sysdeps/i386/crti.S and crtn.S,
 * sysdeps/unix/sysv/linux/x86_64/clone.S and clone3.S. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct buf;
struct cfi_state;
struct elf_file;

/* A .debug_frame that tells of .init and .fini into `out`, which stays empty where they are
 * not as expected.  elf_file_sections() came before.  0, or -ENOMEM. */
int unwind_asm_crt(struct elf_file *f, struct buf *out);

enum {
	UNWIND_ASM_CLONE_MIN = 10, /* bytes of what is below */
	UNWIND_ASM_CLONE_MAX = 32
};

/* What lies between clone()'s rules of x86-64, which end before the system call, and those of
 * the new thread: bytes up to behind the instruction that makes the call; 0: it is other code. */
size_t unwind_asm_clone(const uint8_t *code, size_t len);
/* What holds before the call has been made, and behind it, when rax tells the new thread, whose
 * root this is, from the one that called.  Expressions are in *ret_code. */
void unwind_asm_clone_states(struct cfi_state *ret_before, struct cfi_state *ret_behind,
			     const uint8_t **ret_code);
