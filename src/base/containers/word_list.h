/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_list.h - words that somebody else owns, in their order.
 * Layer: base. */
#pragma once
#include "base/containers/vec.h"

struct word_list {
	VEC(const char *) values;
};
