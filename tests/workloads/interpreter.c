/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interpreter.c [TIMES] - interprets a program of a few instructions TIMES times: the compiler
 * cannot know the hot instructions without a profile. Lines and discriminators matter:
 * afdo.bats compares them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum op {
	ADD,
	MIX,
	LOAD,
	STORE,
	LOOP,
	RARE,
	END
};

struct machine {
	uint64_t acc;
	uint64_t memory[64];
	uint64_t left;
};

/* Too large for the compiler to inline. */
static uint64_t mix(uint64_t x, uint64_t by)
{
	for (int i = 0; i < 3; i++) {
		x ^= x >> 33;
		x *= 0xff51afd7ed558ccdULL + by;
		x ^= x >> 29;
		if (x & 1)
			x *= 0xc4ceb9fe1a85ec53ULL;
		else
			x += by << 7 | x >> 57;
		x ^= x >> 32;
		x += (x << 3) ^ (by * 7);
	}
	return x;
}

static uint64_t rare(uint64_t x, uint64_t by)
{
	for (int i = 0; i < 3; i++) {
		x += x >> 31;
		x /= 3 + (by & 7);
		x ^= by << 9;
		if (x & 2)
			x -= 77;
		x ^= x << 5;
		x *= by | 1;
	}
	return x;
}

static uint64_t run(struct machine *m, const uint8_t *code)
{
	for (const uint8_t *at = code;; at += 2) {
		uint8_t arg = at[1];

		switch ((enum op)at[0]) {
		case ADD:
			m->acc += arg;
			break;
		case MIX:
			m->acc = mix(m->acc, arg) +
				 (arg > 5 ? mix(m->acc, 9) : mix(arg, 3));
			break;
		case LOAD:
			m->acc ^= m->memory[arg & 63];
			break;
		case STORE:
			m->memory[arg & 63] = m->acc;
			break;
		case RARE:
			if ((m->acc & 1023) == 7)
				m->acc = rare(m->acc, arg);
			break;
		case LOOP:
			if (--m->left)
				at = code - 2;
			break;
		case END:
			return m->acc;
		}
	}
}

int main(int argc, char **argv)
{
	static const uint8_t code[] = { ADD,  5, MIX, 3, STORE, 9, LOAD, 4, MIX, 8,
					RARE, 1, ADD, 1, LOOP,  0, END,  0 };
	struct machine m = { .left = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000 };

	printf("%llx\n", (unsigned long long)run(&m, code));
	return 0;
}
