/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_files.h - saves the data of the running kernel that a session needs: symbols, modules,
 * vdso.
 * Layer: capture. The data is saved when a recording begins, because it is not available later on
 * another machine or after a reboot. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

struct err;
struct proc_module;

/* Saves the text symbols of /proc/kallsyms as `current_dir`/kallsyms.zst (DIR/samples/current).
 * The file is created once per boot and list of modules, as `session_dir`/kernel/<boot
 * id>-<hash>.kallsyms.zst, and then linked or, if linking fails, copied; an existing file is
 * replaced. Files of earlier boots to which no session links are removed. Recorders can do this
 * concurrently. Returns 0; 1 if nothing was saved because the kernel hides the addresses
 * (kptr_restrict); or a negative errno. */
int kernel_files_save_kallsyms(const char *session_dir, const char *current_dir,
			       const char *boot_id, struct err *err);
/* Reads text in the format of /proc/kallsyms from `fd`, and appends the lines of text symbols to
 * `out`. Sets *hidden to false if at least one symbol has an address. Returns 0 or a negative
 * errno. */
struct buf;
int kernel_files_read_symbols(int fd, struct buf *out, bool *hidden);
/* Writes lines of kernel_files_read_symbols() to `current_dir`/kallsyms.zst. Returns 0 or a
 * negative errno. */
int kernel_files_write_symbols(const char *current_dir, const struct buf *text);
/* Saves `modules`, with one line per module: "name 0xADDR SIZE BUILD-ID-HEX-or-- .text=0xADDR
 * ...". Returns 0 or a negative errno. */
int kernel_files_save_modules(const char *current_dir, struct err *err);
/* For modules that were loaded during the recording: adds their lines to the file `modules`.
 * Returns 0 or a negative errno. */
int kernel_files_add_modules(const char *current_dir, const struct proc_module *modules,
			     size_t nr, struct err *err);
/* Adds the symbols of modules that were loaded during the recording to the file `modules.kallsyms`,
 * those of each module after an empty line. Returns 0 or a negative errno. */
int kernel_files_add_symbols(const char *current_dir, const struct proc_module *modules,
			     size_t nr, struct err *err);
/* Stores the location of the vdso that is mapped into this process, which is always valid, and its
 * number of bytes. Returns 0 or -ENODATA. */
int kernel_files_own_vdso(const void **ret_bytes, size_t *ret_len);
/* Saves a vdso image as `vdso-<build id>`. An existing file is kept. *ret_id is set to its
 * build-id unless NULL. Returns 0, -EBADMSG (not an ELF file with a build-id), or another
 * negative errno. */
int kernel_files_save_vdso(const char *current_dir, const void *bytes, size_t len,
			   struct build_id *ret_id, struct err *err);
/* Reads the vdso of process `pid` from `start` to `end` and saves it as kernel_files_save_vdso()
 * does. */
int kernel_files_save_vdso_of(const char *current_dir, int pid, uint64_t start,
			      uint64_t end, struct build_id *ret_id, struct err *err);
