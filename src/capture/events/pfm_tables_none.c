/* pfm_tables_none.c - of a build that has no libpfm4, and of the program that makes the
 * tables. */
#include "capture/events/pfm_tables.h"

const struct pfm_tables event_pfm_tables = { .library = "", .texts = "" };
