/* kernel_files_priv.h - the parts of kernel_files.h that tests feed with made-up input.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "capture/system/proc_modules.h"

/* Appends the lines of kallsyms text that are text symbols with an address; *hidden is set
 * to false at the first address that is not zero. */
void kernel_files_filter(const char *text, size_t len, struct buf *out, bool *hidden);
/* A number that changes when modules come, go or move (not with their use counts). */
uint64_t kernel_files_modules_hash(const char *text);
/* Appends the file `modules`, from /proc/modules' text and the directory /sys/module. */
void kernel_files_describe_modules(const char *text, const char *sys_module,
				   struct buf *out);
void kernel_files_describe_module(const struct proc_module *m, const char *sys_module,
				  struct buf *out);
/* Appends the lines of an older file `modules` whose module and address no line of `out` has:
 * other recordings of the session met them. */
void kernel_files_merge_modules(const char *older, size_t len, struct buf *out);
/* " .text=0xffff..." from what /sys/module/NAME/sections/SECTION says (it is cut at its line's
 * end); nothing for a section whose address is hidden. */
void kernel_files_put_section(const char *section, char *text, struct buf *out);
/* The whole of /proc/kallsyms, filtered.  0 or a negative errno. */
int kernel_files_read_symbols(int fd, struct buf *out, bool *hidden);
/* Appends the lines of kallsyms text that are of the module. */
void kernel_files_filter_module(const char *text, size_t len, const char *module,
				struct buf *out);
