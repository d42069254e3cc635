/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers in x86-64 and i386 code without unwind information: lengths and effects of instructions,
 * the ways to a return, and the proofs by call instructions. */
#include "unit.h"

#include <string.h>

#include "resolve/unwind/bare.h"
#include "resolve/unwind/x86_insn.h"

enum {
	CODE = 0x400000,
	CODE_BYTES = 256
};

/* ---- instructions ---- */

struct insn_case {
	const char *bytes;
	unsigned int len;
	enum x86_kind kind;
	int64_t value;
};

static const struct insn_case insns[] = {
	{ "\x90", 1, X86_PLAIN, 1 },
	{ "\xf3\x0f\x1e\xfa", 4, X86_PLAIN, 0 },
	{ "\x55", 1, X86_PUSH, 0 },
	{ "\x41\x5c", 2, X86_POP, 0 },
	{ "\x6a\x05", 2, X86_PUSH, 0 },
	{ "\x68\x01\x02\x03\x04", 5, X86_PUSH, 0 },
	{ "\xff\x70\x10", 3, X86_PUSH, 0 },
	{ "\x48\x83\xec\x28", 4, X86_ADD_SP, -0x28 },
	{ "\x48\x81\xc4\x00\x01\x00\x00", 7, X86_ADD_SP, 0x100 },
	{ "\x48\x8d\x64\x24\xf8", 5, X86_ADD_SP, -8 },
	{ "\x48\x83\xe4\xc0", 4, X86_SP_UNKNOWN, 1 },
	{ "\x48\x89\xe5", 3, X86_FP_OF_SP, 0 },
	{ "\x48\x8d\x65\xd8", 4, X86_SP_OF_FP, -0x28 },
	{ "\x48\x89\xec", 3, X86_SP_OF_FP, 0 },
	{ "\x4c\x89\xd4", 3, X86_SP_UNKNOWN, 1 },
	{ "\xc9", 1, X86_LEAVE, 0 },
	{ "\x48\x8b\x5c\x24\x10", 5, X86_LOAD_SP, 0x10 },
	{ "\x4c\x8b\x65\xf0", 4, X86_LOAD_FP, -0x10 },
	{ "\x48\x8d\x05\x10\x00\x00\x00", 7, X86_CODE_ADDRESS, 0x10 },
	{ "\x75\xfa", 2, X86_BRANCH, -6 },
	{ "\x0f\x84\x00\x01\x00\x00", 6, X86_BRANCH, 0x100 },
	{ "\xeb\x10", 2, X86_JUMP, 0x10 },
	{ "\xe9\xfc\xff\xff\xff", 5, X86_JUMP, -4 },
	{ "\xe8\x00\x10\x00\x00", 5, X86_CALL, 0x1000 },
	{ "\xff\xd0", 2, X86_CALL_INDIRECT, 0 },
	{ "\x41\xff\xd3", 3, X86_CALL_INDIRECT, 0 },
	{ "\xff\x15\x00\x00\x00\x00", 6, X86_CALL_INDIRECT, 0 },
	{ "\xff\x25\x00\x00\x00\x00", 6, X86_JUMP_SLOT, 0 },
	{ "\xff\xe0", 2, X86_JUMP_INDIRECT, 1 },
	{ "\xff\x24\xc5\x00\x00\x00\x00", 7, X86_JUMP_INDIRECT, 0 },
	{ "\xc3", 1, X86_RETURN, 0 },
	{ "\xf3\xc3", 2, X86_RETURN, 0 },
	{ "\xc2\x08\x00", 3, X86_RETURN, 8 },
	{ "\x0f\x0b", 2, X86_STOP, 0 },
	{ "\xf4", 1, X86_STOP, 0 },
	{ "\x66\xb8\x01\x00", 4, X86_PLAIN, 1 },
	{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, X86_PLAIN, 1 },
	{ "\xf6\xc1\x01", 3, X86_PLAIN, 1 },
	{ "\xf7\x05\x01\x02\x03\x04\x05\x06\x07\x08", 10, X86_PLAIN, 0 },
	{ "\xc5\xfd\x6f\x06", 4, X86_PLAIN, 0 },
	{ "\xc4\xe3\x7d\x39\xc1\x01", 6, X86_PLAIN, 0 },
	{ "\x62\xf1\xfe\x48\x6f\x46\x01", 7, X86_PLAIN, 0 },
	{ "\x66\x0f\x3a\x0f\xc1\x08", 6, X86_PLAIN, 0 },
	{ "\x66\x0f\x70\xc1\x08", 5, X86_PLAIN, 0 },
};

static const struct insn_case insns_i386[] = {
	{ "\x43", 1, X86_PLAIN, 1 },      /* inc %ebx */
	{ "\x4d", 1, X86_FP_UNKNOWN, 1 }, /* dec %ebp */
	{ "\x06", 1, X86_PUSH, 0 },
	{ "\x1f", 1, X86_ADD_SP, 4 },
	{ "\x27", 1, X86_PLAIN, 0 },
	{ "\x55", 1, X86_PUSH, 0 },
	{ "\x5f", 1, X86_POP, 0 },
	{ "\x60", 1, X86_ADD_SP, -32 },
	{ "\x61", 1, X86_SP_UNKNOWN, 1 },
	{ "\x83\xec\x1c", 3, X86_ADD_SP, -0x1c },
	{ "\x81\xc4\x00\x01\x00\x00", 6, X86_ADD_SP, 0x100 },
	{ "\x8d\x64\x24\x08", 4, X86_ADD_SP, 8 },
	{ "\x8d\x65\xf4", 3, X86_SP_OF_FP, -12 },
	{ "\x89\xe5", 2, X86_FP_OF_SP, 0 },
	{ "\x89\xec", 2, X86_SP_OF_FP, 0 },
	{ "\x8b\x1c\x24", 3, X86_LOAD_SP, 0 },
	{ "\x8b\x75\xfc", 3, X86_LOAD_FP, -4 },
	{ "\x8d\x05\x10\x00\x00\x00", 6, X86_PLAIN, 1 },
	{ "\xa1\x01\x02\x03\x04", 5, X86_PLAIN, 0 },
	{ "\xb8\x01\x02\x03\x04", 5, X86_PLAIN, 1 },
	{ "\xc5\xf9\x6f\x06", 4, X86_PLAIN, 0 },
	{ "\xc5\x06", 2, X86_PLAIN, 1 }, /* lds (%esi), %eax */
	{ "\x62\xf1\xfe\x48\x6f\x46\x01", 7, X86_PLAIN, 0 },
	{ "\x62\x06", 2, X86_PLAIN, 0 }, /* bound */
	{ "\xe8\x00\x00\x00\x00", 5, X86_PUSH, 0 },
	{ "\xe8\xf0\xff\xff\xff", 5, X86_CALL, -16 },
	{ "\xff\x93\x0c\x00\x00\x00", 6, X86_CALL_INDIRECT, 0 },
	{ "\xff\x25\x0c\xa0\x04\x08", 6, X86_JUMP_SLOT, 0 },
	{ "\xff\xa3\x0c\x00\x00\x00", 6, X86_JUMP_SLOT, 0 },
	{ "\xff\x24\x85\x00\xa0\x04\x08", 7, X86_JUMP_INDIRECT, 0 },
	{ "\xc2\x04\x00", 3, X86_RETURN, 4 },
};

typedef struct x86_insn (*decode_fn)(const uint8_t *bytes, size_t len);

static void check_insns(const struct insn_case *cases, size_t nr, decode_fn decode)
{
	for (size_t i = 0; i < nr; i++) {
		const struct insn_case *c = &cases[i];
		uint8_t bytes[X86_INSN_MAX] = { 0 };
		struct x86_insn insn;

		memcpy(bytes, c->bytes, c->len);
		insn = decode(bytes, sizeof(bytes));
		if (insn.kind != c->kind || insn.len != c->len ||
		    insn.value != c->value)
			fail_msg("instruction %zu: kind %d, %u bytes, value %lld", i,
				 (int)insn.kind, insn.len, (long long)insn.value);
		/* With too few bytes, nothing is read beyond them. */
		for (size_t len = 0; len < c->len; len++)
			assert_true(decode(bytes, len).len <= len);
	}
}

static void instructions_have_their_lengths_and_effects(void **state)
{
	(void)state;
	check_insns(insns, sizeof(insns) / sizeof(*insns), x86_insn_decode);
	check_insns(insns_i386, sizeof(insns_i386) / sizeof(*insns_i386),
		    x86_insn_decode_i386);
}

/* ---- callers ---- */

struct code_of_test {
	uint8_t bytes[CODE_BYTES];
};

static size_t test_bare_read(void *ctx, uint64_t address, uint8_t *ret_bytes,
			     size_t len)
{
	const struct code_of_test *c = ctx;
	uint64_t at = address - CODE;

	if (address < CODE || at >= CODE_BYTES)
		return 0;
	if (len > CODE_BYTES - at)
		len = (size_t)(CODE_BYTES - at);
	memcpy(ret_bytes, c->bytes + at, len);
	return len;
}

static void test_bare_put(struct code_of_test *c, size_t at, const char *bytes,
			  size_t len)
{
	memcpy(c->bytes + at, bytes, len);
}

/* At 0x10, a function with two saved registers; at 0x80, a call of it; at 0x90, an indirect call;
 * at 0xa0, a call of another function; at 0xb0, a call of a PLT entry at 0xd0; at 0xc0, a call of
 * a jump to it. */
static void test_bare_code(struct code_of_test *c)
{
	memset(c->bytes, 0xcc, sizeof(c->bytes));
	test_bare_put(c, 0x10, "\x53\x41\x54\x48\x83\xec\x08",
		      7);                              /* push; push; sub $8 */
	test_bare_put(c, 0x17, "\xff\xcf\x75\xfc", 4); /* dec; jne */
	test_bare_put(c, 0x1b, "\x48\x83\xc4\x08\x41\x5c\x5b\xc3", 8);
	test_bare_put(c, 0x40, "\xc3", 1);
	test_bare_put(c, 0x60, "\xeb\xae", 2); /* jmp 0x10 */
	test_bare_put(c, 0x80, "\xe8\x8b\xff\xff\xff", 5);
	test_bare_put(c, 0x90, "\xff\xd0", 2);
	test_bare_put(c, 0xa0, "\xe8\x9b\xff\xff\xff", 5);
	test_bare_put(c, 0xb0, "\xe8\x1b\x00\x00\x00", 5);
	test_bare_put(c, 0xc0, "\xe8\x9b\xff\xff\xff", 5);
	test_bare_put(c, 0xd0, "\xff\x25\x00\x10\x00\x00", 6);
}

static void finds_the_path_to_the_return(void **state)
{
	struct code_of_test c;
	const struct unwind_bare_ops ops = { .code = test_bare_read, .ctx = &c };
	const struct bare_caller *ways;
	struct unwind_bare *b;

	(void)state;
	test_bare_code(&c);
	assert_int_equal(unwind_bare_new(&b), 0);
	/* Looks at the start of the function, in its loop, and at its end; the second turn uses
	 * the cache. */
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x10, &ways),
				 1);
		assert_int_equal(ways[0].return_address.base, BARE_SP);
		assert_int_equal(ways[0].return_address.offset, 0);
		assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x17, &ways),
				 1);
		assert_int_equal(ways[0].return_address.offset, 24);
		assert_int_equal(ways[0].saved[0].base, BARE_SP);
		assert_int_equal(ways[0].saved[0].offset, 16); /* rbx */
		assert_int_equal(ways[0].saved[2].offset, 8);  /* r12 */
		assert_int_equal(ways[0].saved[1].base, BARE_UNKNOWN);
		assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x22, &ways),
				 1);
		assert_int_equal(ways[0].return_address.offset, 0);
	}
	/* Padding, and no code. */
	assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x30, &ways), 0);
	assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x1000, &ways), 0);
	unwind_bare_free(b);
}

static void only_matching_calls_prove_a_caller(void **state)
{
	struct code_of_test c;
	const struct unwind_bare_ops ops = { .code = test_bare_read, .ctx = &c };
	const struct bare_caller *ways;
	struct bare_caller way, wrong;
	struct unwind_bare *b;
	uint64_t pc = CODE + 0x17;

	(void)state;
	test_bare_code(&c);
	assert_int_equal(unwind_bare_new(&b), 0);
	assert_int_equal(unwind_bare_callers(b, &ops, 1, pc, &ways), 1);
	way = wrong = ways[0];
	wrong.return_address.offset = 16;
	for (int turn = 0; turn < 2; turn++) {
		assert_true(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0x85));
		assert_true(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0x92));
		assert_true(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0xb5));
		assert_true(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0xc5));
		assert_false(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0xa5));
		assert_false(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0x70));
		assert_false(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0x1000));
		assert_false(unwind_bare_is_call(b, &ops, 1, pc, &way, 3));
		assert_false(unwind_bare_is_call(b, &ops, 1, pc, &wrong, CODE + 0x85));
		assert_true(unwind_bare_is_entered(b, &ops, 1, pc, CODE + 0x85, 24));
		assert_true(unwind_bare_is_entered(b, &ops, 1, pc, CODE + 0xc5, 24));
		assert_false(unwind_bare_is_entered(b, &ops, 1, pc, CODE + 0x85, 16));
		assert_false(unwind_bare_is_entered(b, &ops, 1, pc, CODE + 0xa5, 24));
		/* A call through the PLT does not count here: only a call of the function's start
		 * does. */
		assert_false(unwind_bare_is_entered(b, &ops, 1, pc, CODE + 0xb5, 24));
	}
	/* Another address space contains other code. */
	test_bare_put(&c, 0x80, "\xe8\xbb\xff\xff\xff", 5);
	assert_true(unwind_bare_is_call(b, &ops, 1, pc, &way, CODE + 0x85));
	assert_false(unwind_bare_is_call(b, &ops, 2, pc, &way, CODE + 0x85));
	unwind_bare_free(b);
}

/* At 0x10, a function that gets its address by a call of the next instruction; at 0x80, a call of
 * it; at 0x90, one with other arguments; at 0xb0, a call of a PLT entry at 0xd0. */
static void i386_code_is_unwound_by_words_of_4_bytes(void **state)
{
	struct code_of_test c;
	const struct unwind_bare_ops ops = { .code = test_bare_read,
					     .ctx = &c,
					     .is_i386 = true };
	const struct bare_caller *ways;
	struct bare_caller way;
	struct unwind_bare *b;

	(void)state;
	memset(c.bytes, 0xcc, sizeof(c.bytes));
	test_bare_put(&c, 0x10, "\x57\x53", 2); /* push %edi; push %ebx */
	test_bare_put(&c, 0x12, "\xe8\0\0\0\0\x5b\x83\xec\x08", 9);
	test_bare_put(&c, 0x1b, "\x49\x75\xfd", 3); /* dec %ecx; jne */
	test_bare_put(&c, 0x1e, "\x83\xc4\x08\x5b\x5f\xc2\x04\x00", 8);
	test_bare_put(&c, 0x80, "\xe8\x8b\xff\xff\xff", 5);
	test_bare_put(&c, 0x90, "\xe8\x8b\xff\xff\xff", 5);
	test_bare_put(&c, 0xb0, "\xe8\x1b\x00\x00\x00", 5);
	test_bare_put(&c, 0xd0, "\xff\xa3\x0c\x00\x00\x00", 6);
	assert_int_equal(unwind_bare_new(&b), 0);
	/* At the pop of the address, and in the loop. */
	assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x17, &ways), 1);
	assert_int_equal(ways[0].return_address.offset, 12);
	assert_true(
		unwind_bare_is_call(b, &ops, 1, CODE + 0x17, &ways[0], CODE + 0x85));
	assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE + 0x1b, &ways), 1);
	way = ways[0];
	assert_int_equal(way.return_address.base, BARE_SP);
	assert_int_equal(way.return_address.offset, 16);
	assert_int_equal(way.popped, 4);
	assert_int_equal(unwind_bare_slot(true, 0), 3); /* ebx */
	assert_int_equal(way.saved[0].offset, 8);
	assert_int_equal(unwind_bare_slot(true, 3), 7); /* edi */
	assert_int_equal(way.saved[3].offset, 12);
	assert_int_equal(way.saved[1].base, BARE_UNKNOWN);
	assert_true(unwind_bare_is_call(b, &ops, 1, CODE + 0x1b, &way, CODE + 0x85));
	assert_true(unwind_bare_is_call(b, &ops, 1, CODE + 0x1b, &way, CODE + 0xb5));
	assert_false(unwind_bare_is_call(b, &ops, 1, CODE + 0x1b, &way, CODE + 0x95));
	way.return_address.offset = 12;
	assert_false(unwind_bare_is_call(b, &ops, 2, CODE + 0x1b, &way, CODE + 0x85));
	unwind_bare_free(b);
}

/* Returns code with 100 branches, each to other code that never ends. */
static size_t read_endless(void *ctx, uint64_t address, uint8_t *ret_bytes, size_t len)
{
	(void)ctx;
	for (size_t i = 0; i < len; i++) {
		uint64_t at = address + i - CODE;
		uint8_t branch[6] = { 0x0f, 0x85, 0, 0, (uint8_t)(1 + at / 6), 0 };

		ret_bytes[i] =
			at < sizeof(branch) * 100 ? branch[at % sizeof(branch)] : 0x90;
	}
	return len;
}

static void the_search_through_endless_code_ends(void **state)
{
	const struct unwind_bare_ops ops = { .code = read_endless };
	const struct bare_caller *ways;
	struct unwind_bare *b;

	(void)state;
	assert_int_equal(unwind_bare_new(&b), 0);
	assert_int_equal(unwind_bare_callers(b, &ops, 1, CODE, &ways), 0);
	unwind_bare_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_their_lengths_and_effects),
		cmocka_unit_test(finds_the_path_to_the_return),
		cmocka_unit_test(only_matching_calls_prove_a_caller),
		cmocka_unit_test(i386_code_is_unwound_by_words_of_4_bytes),
		cmocka_unit_test(the_search_through_endless_code_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
