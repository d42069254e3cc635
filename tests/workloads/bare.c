/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bare MS - uses MS of CPU time in each of some functions in assembly without unwind information
 * (x86-64). The caller of bare_NAME is call_NAME, except that of bare_unproved: no call
 * instruction is before its return address. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

enum {
	TURNS = 200000
};

#define BARE(name, body)                                                               \
	__asm__(".text\n.balign 16\n.globl bare_" #name "\n.type bare_" #name          \
		",@function\nbare_" #name ":\n" body "\n.size bare_" #name             \
		",.-bare_" #name "\n");                                                \
	void bare_##name(uint64_t n)

#define LOOP "1: imul $3, %rax, %rax\n dec %rdi\n jnz 1b\n"

BARE(leaf, LOOP " ret");
BARE(saved, " push %rbx\n push %r12\n sub $0x28, %rsp\n xor %ebx, %ebx\n"
	    " xor %r12d, %r12d\n" LOOP " add $0x28, %rsp\n pop %r12\n pop %rbx\n ret");
BARE(indirect, LOOP " ret");
BARE(tail, LOOP " rep ret");
/* The top of the stack of bare_decoy looks like a return address. */
BARE(decoy, " lea 2f(%rip), %rax\n push %rax\n xor %eax, %eax\n" LOOP
	    " lea 8(%rsp), %rsp\n ret\n call bare_leaf\n2: nop");
/* bare_no_frame uses the frame pointer for data. */
BARE(no_frame, " push %rbp\n mov $1, %ebp\n" LOOP " pop %rbp\n ret");
BARE(aligned, " push %rbp\n mov %rsp, %rbp\n and $-64, %rsp\n sub $0x40, %rsp\n" LOOP
	      " leave\n ret");
/* bare_outer calls code with unwind information. */
BARE(outer, " push %r13\n lea inner_work(%rip), %r13\n call *%r13\n pop %r13\n ret");
/* The end of bare_branches is far away, and branches lead to other code. */
BARE(branches, " sub $0x18, %rsp\n test %rdi, %rdi\n je 3f\n cmp $1, %rdi\n je 4f\n"
	       " jmp 5f\n3: call abort\n4: ud2\n5:" LOOP " add $0x18, %rsp\n ret");
/* bare_unproved pushes another return address, which no call instruction precedes. */
BARE(unproved, " lea 3f(%rip), %rax\n push %rax\n" LOOP " ret\n .byte 0x90, 0x90, 0x90,"
	       " 0x90, 0x90, 0x90, 0x90\n3: ret");

__attribute__((noinline)) void inner_work(uint64_t n);
void inner_work(uint64_t n)
{
	uint32_t a = 1;

	while (n--)
		__asm__ volatile("imul $3, %0, %0" : "+r"(a));
}

#define CALL(name)                                                                     \
	__attribute__((noinline)) static void call_##name(uint64_t n)                  \
	{                                                                              \
		bare_##name(n);                                                        \
		__asm__ volatile("");                                                  \
	}
CALL(leaf)
CALL(saved)
CALL(decoy)
CALL(no_frame)
CALL(aligned)
CALL(outer)
CALL(branches)
CALL(unproved)

__attribute__((noinline)) static void call_indirect(uint64_t n)
{
	void (*volatile fn)(uint64_t) = bare_indirect;

	fn(n);
	__asm__ volatile("");
}

/* The compiler makes this a jump to the function. */
__attribute__((noinline)) void jump_to_tail(uint64_t n);
void jump_to_tail(uint64_t n)
{
	bare_tail(n + 1);
}

__attribute__((noinline)) static void call_tail(uint64_t n)
{
	jump_to_tail(n);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	static void (*const calls[])(uint64_t) = {
		call_leaf,     call_saved,    call_indirect, call_tail,
		call_decoy,    call_no_frame, call_aligned,  call_outer,
		call_branches, call_unproved,
	};
	unsigned int ms = work_argument(argc, argv, 1, 100);

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		uint64_t end = work_thread_ns() + (uint64_t)ms * 1000000;

		while (work_thread_ns() < end)
			calls[i](TURNS);
	}
	return 0;
}
