#include "format/pack_priv.h"

const struct pack_ops pack_bzip2 = { 0 };
