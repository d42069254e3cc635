/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_list.h - an ordered list of strings that other code owns.
 * Layer: base. */
#pragma once
#include "base/containers/vec.h"

struct word_list {
	VEC(const char *) values;
};
