/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deep_random SECONDS: runs with a stack of 2000 return addresses that are different each time, so
 * that unwinding it is costly and no two samples have a caller in common. x86-64 only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
	CODE_BYTES = 1 << 22, /* of the function random_spin() */
	FRAMES = 2000,
	STACK_BYTES = 1 << 20,
	BELOW = 64, /* words above the frames */
	TURNS = 4000000
};

#ifdef __x86_64__
/* random_call(stack, turns): spins with this stack. Each frame of random_spin() is one word. */
__asm__(".text\n"
	".globl random_spin\n"
	".type random_spin, @function\n"
	"random_spin:\n"
	".cfi_startproc\n"
	"1:	sub $1, %rdi\n"
	"	jnz 1b\n"
	"	jmp random_back\n"
	"	.skip 4194304, 0x90\n"
	".cfi_endproc\n"
	".size random_spin, .-random_spin\n"
	".globl random_call\n"
	".type random_call, @function\n"
	"random_call:\n"
	"	push %rbx\n"
	"	mov %rsp, %rbx\n"
	"	mov %rdi, %rsp\n"
	"	mov %rsi, %rdi\n"
	"	jmp random_spin\n"
	"random_back:\n"
	"	mov %rbx, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size random_call, .-random_call\n");
extern const char random_spin[];
void random_call(uint64_t *stack, long turns);
#else
static const char random_spin[1];

static void random_call(uint64_t *stack, long turns)
{
	(void)stack;
	(void)turns;
}
#endif

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

int main(int argc, char **argv)
{
	uint64_t *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *stack;
	time_t end;

	if (argc != 2 || memory == MAP_FAILED) {
		fprintf(stderr, "usage: deep_random SECONDS\n");
		return 1;
	}
	stack = memory + STACK_BYTES / sizeof(*memory) - BELOW - FRAMES;
	end = time(NULL) + strtol(argv[1], NULL, 10);
	while (time(NULL) < end) {
		for (int i = 0; i < FRAMES; i++)
			stack[i] = (uintptr_t)random_spin + 16 +
				   next_random() % (CODE_BYTES - 32);
		stack[FRAMES] = 0;
		random_call(stack, TURNS);
	}
	return 0;
}
