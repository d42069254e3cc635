/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_wrap_bzip2.c - records out-of-memory errors of libbz2. */
#include <bzlib.h>

#include "base/memory/failures.h"
#include "base/memory/failures_wrap.h"

NOTED_MEMORY(int, BZ2_bzDecompressInit, (bz_stream * s, int verbosity, int small),
	     (s, verbosity, small), result == BZ_MEM_ERROR)
NOTED_MEMORY(int, BZ2_bzDecompress, (bz_stream * s), (s), result == BZ_MEM_ERROR)
/* NOLINTNEXTLINE(readability-function-size): the library's parameters */
NOTED_MEMORY(int, BZ2_bzBuffToBuffCompress,
	     (char *to, unsigned int *size, char *from, unsigned int len, int blocks,
	      int verbosity, int factor),
	     (to, size, from, len, blocks, verbosity, factor), result == BZ_MEM_ERROR)
