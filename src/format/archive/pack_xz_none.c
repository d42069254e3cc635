/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_xz_none.c - replaces pack_xz.c in a build without liblzma. */
#include "format/archive/pack_priv.h"

const struct pack_ops pack_xz = { 0 };
