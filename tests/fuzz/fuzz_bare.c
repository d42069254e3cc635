/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_bare.c - any bytes as x86-64, i386 and AArch64 code without unwind information. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/unwind/a64_leaf.h"
#include "resolve/unwind/bare.h"
#include "resolve/unwind/x86_insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	CODE = 0x10000
};

struct fuzz_bare_code {
	const uint8_t *bytes;
	size_t len;
};

static size_t fuzz_bare_read(void *ctx, uint64_t address, uint8_t *ret_bytes,
			     size_t len)
{
	const struct fuzz_bare_code *c = ctx;
	uint64_t at = address - CODE;

	if (address < CODE || at >= c->len)
		return 0;
	if (len > c->len - at)
		len = (size_t)(c->len - at);
	memcpy(ret_bytes, c->bytes + at, len);
	return len;
}

static void fuzz_x86(const struct unwind_bare_ops *ops, const uint8_t *data,
		     size_t size)
{
	const struct bare_caller *ways;
	struct unwind_bare *b;
	size_t nr;

	if (unwind_bare_new(&b))
		return;
	for (size_t at = 0; at < size && at < 16; at++) {
		uint64_t pc = CODE + at;

		if (x86_insn_decode(data + at, size - at).len > size - at ||
		    x86_insn_decode_i386(data + at, size - at).len > size - at)
			abort();
		nr = unwind_bare_callers(b, ops, 1, pc, &ways);
		if (nr > BARE_CALLERS)
			abort();
		for (size_t i = 0; i < nr; i++)
			(void)unwind_bare_is_call(b, ops, 1, pc, &ways[i],
						  CODE + size / 2);
		(void)unwind_bare_is_entered(b, ops, 1, pc, CODE + size / 2, 8);
	}
	unwind_bare_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bare_code c = { data, size };
	struct unwind_bare_ops ops = { .code = fuzz_bare_read, .ctx = &c };

	fuzz_x86(&ops, data, size);
	ops.is_i386 = true;
	fuzz_x86(&ops, data, size);
	for (uint64_t at = 0; at < size && at < 64; at += 4) {
		int64_t sp;

		(void)a64_leaf_caller(&ops, CODE + at, CODE + size / 8 * 4, &sp);
	}
	return 0;
}
