/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_bzip2_none.c - replaces pack_bzip2.c in a build without libbz2. */
#include "format/archive/pack_priv.h"

const struct pack_ops pack_bzip2 = { 0 };
