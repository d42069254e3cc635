/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_wrap_xz.c - records out-of-memory errors of liblzma. */
#include <lzma.h>

#include "base/memory/failures.h"
#include "base/memory/failures_wrap.h"

NOTED_MEMORY(lzma_ret, lzma_stream_decoder,
	     (lzma_stream * s, uint64_t limit, uint32_t flags), (s, limit, flags),
	     result == LZMA_MEM_ERROR)
NOTED_MEMORY(lzma_ret, lzma_code, (lzma_stream * s, lzma_action action), (s, action),
	     result == LZMA_MEM_ERROR)
