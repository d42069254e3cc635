/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One of two libraries that differ only in the name of their single function, so that both
 * have the same layout and the second is mapped at the address of the first. */
#include "work.h"

WORK_FUNCTION(TRUTH_LIB_FUNCTION)
