/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_files_priv.h - internals of kernel_files.h, for tests with artificial input.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "capture/system/proc_modules.h"

/* Appends those lines of kallsyms text that are text symbols with a nonzero address. Sets
 * *hidden to false if there are any. */
void kernel_files_filter(const char *text, size_t len, struct buf *out, bool *hidden);
/* Returns a hash that changes when modules are loaded, unloaded or moved, but not with their
 * use counts. */
uint64_t kernel_files_modules_hash(const char *text);
/* Appends the contents of the file `modules`, which it derives from the text of /proc/modules and
 * the directory `sys` (/sys/module). */
void kernel_files_describe_modules(const char *text, const char *sys_module,
				   struct buf *out);
void kernel_files_describe_module(const struct proc_module *m, const char *sys_module,
				  struct buf *out);
/* Appends those lines of an older file `modules` whose module and address are not in `out`:
 * other recordings of the session added them. */
void kernel_files_merge_modules(const char *older, size_t len, struct buf *out);
/* Appends " .text=0xffff..." for a section; `text` is the contents of
 * /sys/module/NAME/sections/SECTION and is truncated at its line end. Appends nothing for a
 * section whose address is hidden. */
void kernel_files_put_section(const char *section, char *text, struct buf *out);
/* Appends the lines of kallsyms text that belong to the module. */
void kernel_files_filter_module(const char *text, size_t len, const char *module,
				struct buf *out);
