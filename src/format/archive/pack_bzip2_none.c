/* pack_bzip2_none.c - a build without libbz2. */
#include "format/archive/pack_priv.h"

const struct pack_ops pack_bzip2 = { 0 };
