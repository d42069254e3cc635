/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit.h - includes cmocka after the headers that it needs. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Runs all cases of one file: int main(void) { return UNIT_RUN(cases); } */
#define UNIT_RUN(cases) cmocka_run_group_tests(cases, NULL, NULL)
