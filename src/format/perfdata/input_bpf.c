/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_bpf.c - reads the machine code of BPF programs from a perf.data file.
 * The feature (tools/perf/util/header.c, write_bpf_prog_info()) is a count, followed by these
 * fields for each program: the length of its info, the length of its data, a mask of the arrays
 * in the data, the info (struct bpf_prog_info of the kernel's <linux/bpf.h>), and the data.
 * Pointers in the info are offsets into the data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "format/perfdata/input_priv.h"

enum {
	PROGRAMS_MAX = 1 << 16,
	FUNCTIONS_MAX = 1 << 12,
	/* Offsets in struct bpf_prog_info. Later kernels only append fields. */
	INFO_JITED_LEN = 16,
	INFO_JITED = 24,
	INFO_NR_KSYMS = 104,
	INFO_NR_LENS = 108,
	INFO_KSYMS = 112,
	INFO_LENS = 120,
	INFO_BYTES = 128
};

/* A program while its info is parsed. */
struct perf_input_bpf_program {
	const uint8_t *data;
	uint32_t data_len;
	bool swap;
	uint32_t jited_len;
	uint64_t jited;
	uint32_t nr; /* number of functions */
	uint64_t ksyms;
	uint64_t lens;
};

/* Returns whether `offset` and `len` are within the program's data. */
static bool perf_input_bpf_has(const struct perf_input_bpf_program *p, uint64_t offset,
			       uint64_t len)
{
	return offset <= p->data_len && len <= p->data_len - offset;
}

static struct cursor at(const uint8_t *bytes, size_t len, size_t offset, bool swap)
{
	struct cursor c = cursor_of(bytes, len, swap);

	cursor_take(&c, offset);
	return c;
}

static bool perf_input_bpf_read_info(struct perf_input_bpf_program *p,
				     const uint8_t *info, uint32_t len)
{
	struct cursor c = at(info, len, INFO_JITED_LEN, p->swap);
	uint32_t nr_lens;

	p->jited_len = cursor_u32(&c);
	c = at(info, len, INFO_JITED, p->swap);
	p->jited = cursor_u64(&c);
	c = at(info, len, INFO_NR_KSYMS, p->swap);
	p->nr = cursor_u32(&c);
	nr_lens = cursor_u32(&c);
	p->ksyms = cursor_u64(&c);
	p->lens = cursor_u64(&c);
	return !c.failed && p->nr == nr_lens && p->nr <= FUNCTIONS_MAX &&
	       perf_input_bpf_has(p, p->jited, p->jited_len) &&
	       perf_input_bpf_has(p, p->ksyms, (uint64_t)p->nr * sizeof(uint64_t)) &&
	       perf_input_bpf_has(p, p->lens, (uint64_t)p->nr * sizeof(uint32_t));
}

static int perf_input_bpf_add_code(struct perf_input *in, uint64_t address,
				   const uint8_t *bytes, uint32_t len)
{
	struct perf_input_code *code;

	if (!vec_grow(&in->info.codes))
		return -ENOMEM;
	code = &in->info.codes.at[in->info.codes.nr];
	*code = (struct perf_input_code){ .address = address, .len = len };
	code->bytes = malloc(len);
	if (!code->bytes)
		return -ENOMEM;
	memcpy(code->bytes, bytes, len);
	in->info.codes.nr++;
	return 0;
}

/* Adds the functions of a program, whose code is contiguous. If the user was not permitted to see
 * the code, the kernel has replaced it and its addresses by zeros. */
static int perf_input_bpf_add_functions(struct perf_input *in,
					const struct perf_input_bpf_program *p)
{
	struct cursor starts = at(p->data, p->data_len, p->ksyms, p->swap);
	struct cursor lens = at(p->data, p->data_len, p->lens, p->swap);
	uint64_t done = 0;
	int r = 0;

	for (uint32_t i = 0; !r && i < p->nr; i++) {
		uint64_t address = cursor_u64(&starts);
		uint32_t len = cursor_u32(&lens);

		if (len > p->jited_len - done)
			break;
		if (address && len)
			r = perf_input_bpf_add_code(in, address,
						    p->data + p->jited + done, len);
		done += len;
	}
	return r;
}

int perf_bpf_programs(struct perf_input *in, struct cursor *payload)
{
	uint32_t nr = cursor_u32(payload);
	int r = 0;

	if (nr > PROGRAMS_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; !r && i < nr && !payload->failed; i++) {
		uint32_t info_len = cursor_u32(payload);
		struct perf_input_bpf_program p = { .swap = in->info.swap };
		const uint8_t *info;

		p.data_len = cursor_u32(payload);
		cursor_u64(payload); /* mask of the arrays */
		info = cursor_take(payload, info_len);
		p.data = cursor_take(payload, p.data_len);
		if (info && p.data && info_len >= INFO_BYTES &&
		    perf_input_bpf_read_info(&p, info, info_len))
			r = perf_input_bpf_add_functions(in, &p);
	}
	return r ? r : payload->failed ? -EBADMSG : 0;
}
