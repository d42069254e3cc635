/* index_details.h - what the files of the index cache are of.
 * Layer: resolve. */
#pragma once

struct index_cache_entry;

/* Opens the file, and sets the entry's path_of, nr_units and nr_kept; a damaged one leaves path_of
 * NULL. */
void index_details_read(struct index_cache_entry *e);
