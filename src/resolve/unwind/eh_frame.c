/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/eh_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/sort_keys.h"
#include "resolve/elf/file.h"
#include "resolve/unwind/cfi.h"

static int sort_functions(struct eh_frame *frames)
{
	size_t nr = frames->functions.nr;
	struct eh_function *sorted;
	struct sort_key *keys;
	bool is_sorted = true;
	int r;

	for (size_t i = 1; i < nr && is_sorted; i++)
		is_sorted = frames->functions.at[i - 1].start <=
			    frames->functions.at[i].start;
	if (is_sorted)
		return 0;
	keys = malloc(nr * sizeof(*keys));
	sorted = malloc(nr * sizeof(*sorted));
	r = keys && sorted ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < nr; i++)
		keys[i] =
			(struct sort_key){ frames->functions.at[i].start, (uint32_t)i };
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; !r && i < nr; i++)
		sorted[i] = frames->functions.at[keys[i].index];
	if (!r)
		memcpy(frames->functions.at, sorted, nr * sizeof(*sorted));
	free(sorted);
	free(keys);
	return r;
}

int eh_frame_parse(const void *bytes, size_t len, uint64_t vaddr, bool is64, bool swap,
		   struct eh_frame *ret_frames)
{
	struct cfi_walk walk = cfi_walk_of(bytes, len, vaddr, is64, swap, false);
	struct eh_frame frames = { 0 };
	struct cfi_fde fde;
	int r;

	while (cfi_next(&walk, &fde)) {
		struct eh_function function = { fde.start, fde.bytes };

		if (!fde.start || vec_push(&frames.functions, function))
			continue;
		eh_frame_done(&frames);
		return -ENOMEM;
	}
	r = sort_functions(&frames);
	if (r) {
		eh_frame_done(&frames);
		return r;
	}
	*ret_frames = frames;
	return 0;
}

/* Reads the functions of a PE file, which has a table of them for unwinding. */
static int eh_frame_load_pe(const struct elf_file *f, struct eh_frame *frames)
{
	pe_functions functions = { 0 };
	int r = pe_read_functions(f, &functions);

	for (size_t i = 0; !r && i < functions.nr; i++) {
		const struct pe_function *fn = &functions.at[i];
		struct eh_function function = { fn->low, fn->high - fn->low };

		if (!vec_push(&frames->functions, function))
			r = -ENOMEM;
	}
	vec_done(&functions);
	if (r)
		eh_frame_done(frames);
	return r;
}

int eh_frame_load(struct elf_file *f, struct eh_frame *ret_frames)
{
	uint64_t vaddr;
	uint8_t *bytes;
	size_t len;
	int r = cfi_read_eh_frame(f, &bytes, &len, &vaddr);

	*ret_frames = (struct eh_frame){ 0 };
	if (!r && !bytes && f->is_pe)
		return eh_frame_load_pe(f, ret_frames);
	if (r || !bytes)
		return r;
	r = eh_frame_parse(bytes, len, vaddr, f->is64, f->swap, ret_frames);
	free(bytes);
	return r;
}

const struct eh_function *eh_frame_find(const struct eh_frame *frames, uint64_t vaddr)
{
	const struct eh_function *f = frames->functions.at;
	size_t low = 0;
	size_t high = frames->functions.nr; /* the result is before this one */

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || vaddr - f[low - 1].start >= f[low - 1].bytes)
		return NULL;
	return &f[low - 1];
}

void eh_frame_done(struct eh_frame *frames)
{
	vec_done(&frames->functions);
}
