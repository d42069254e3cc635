/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One of two libraries that differ in the name of their one function only, so that both
 * have the same layout and the second is mapped where the first has been. */
#include "work.h"

WORK_FUNCTION(TRUTH_LIB_FUNCTION)
