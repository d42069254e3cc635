/* unit.h - cmocka with what it wants included before it. */
#pragma once
/* clang-format off: cmocka.h needs these four first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* Runs all cases of one file: int main(void) { return UNIT_RUN(cases); } */
#define UNIT_RUN(cases) cmocka_run_group_tests(cases, NULL, NULL)
