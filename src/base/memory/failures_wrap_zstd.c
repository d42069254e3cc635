/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_wrap_zstd.c - records out-of-memory errors of libzstd and zlib. */
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory/failures.h"
#include "base/memory/failures_wrap.h"

#define NO_ZSTD_MEMORY (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)

NOTED_MEMORY(ZSTD_CCtx *, ZSTD_createCCtx, (void), (), !result)
NOTED_MEMORY(ZSTD_DCtx *, ZSTD_createDCtx, (void), (), !result)
NOTED_MEMORY(ZSTD_DStream *, ZSTD_createDStream, (void), (), !result)
NOTED_MEMORY(size_t, ZSTD_compress,
	     (void *to, size_t size, const void *from, size_t len, int level),
	     (to, size, from, len, level), NO_ZSTD_MEMORY)
NOTED_MEMORY(size_t, ZSTD_compress2,
	     (ZSTD_CCtx * c, void *to, size_t size, const void *from, size_t len),
	     (c, to, size, from, len), NO_ZSTD_MEMORY)
NOTED_MEMORY(size_t, ZSTD_compressStream2,
	     (ZSTD_CCtx * c, ZSTD_outBuffer *to, ZSTD_inBuffer *from,
	      ZSTD_EndDirective end),
	     (c, to, from, end), NO_ZSTD_MEMORY)
NOTED_MEMORY(size_t, ZSTD_decompress,
	     (void *to, size_t size, const void *from, size_t len),
	     (to, size, from, len), NO_ZSTD_MEMORY)
NOTED_MEMORY(size_t, ZSTD_decompressDCtx,
	     (ZSTD_DCtx * d, void *to, size_t size, const void *from, size_t len),
	     (d, to, size, from, len), NO_ZSTD_MEMORY)
NOTED_MEMORY(size_t, ZSTD_decompressStream,
	     (ZSTD_DStream * d, ZSTD_outBuffer *to, ZSTD_inBuffer *from), (d, to, from),
	     NO_ZSTD_MEMORY)

NOTED_MEMORY(int, inflateInit_, (z_streamp z, const char *version, int size),
	     (z, version, size), result == Z_MEM_ERROR)
NOTED_MEMORY(int, inflateInit2_, (z_streamp z, int bits, const char *version, int size),
	     (z, bits, version, size), result == Z_MEM_ERROR)
NOTED_MEMORY(int, inflate, (z_streamp z, int flush), (z, flush), result == Z_MEM_ERROR)
/* NOLINTNEXTLINE(readability-function-size): the library's parameters */
NOTED_MEMORY(int, deflateInit2_,
	     (z_streamp z, int level, int method, int bits, int memory, int strategy,
	      const char *version, int size),
	     (z, level, method, bits, memory, strategy, version, size),
	     result == Z_MEM_ERROR)
