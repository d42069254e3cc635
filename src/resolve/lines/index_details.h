/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index_details.h - reads which binaries the files of the index cache belong to.
 * Layer: resolve. */
#pragma once

struct index_cache_entry;

/* Opens the file and sets the entry's path_of, nr_units and nr_kept. If it is damaged, path_of
 * stays NULL. */
void index_details_read(struct index_cache_entry *e);
