/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_patterns_stl.c - the built-in rules for names of the C++ library. */
#include "resolve/symbols/name_patterns_priv.h"
#include "stl_pat.h" /* made from stl.pat when the build is configured */

const char name_patterns_stl[] = STL_PAT;
