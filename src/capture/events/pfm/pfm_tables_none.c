/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pfm_tables_none.c - empty tables, for a build without libpfm4 and for the program that makes
 * the tables. */
#include "capture/events/pfm/pfm_tables.h"

const struct pfm_tables event_pfm_tables = { .library = "", .texts = "" };
