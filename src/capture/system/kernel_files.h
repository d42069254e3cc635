/* kernel_files.h - what a session keeps of the kernel it ran on: symbols, modules, vdso.
 * Layer: capture.  Written when recording begins, because no later machine (or boot) can
 * tell it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

struct err;
struct proc_module;

/* DIR/samples/current/kallsyms.zst: the text symbols of /proc/kallsyms, made once a boot
 * (and list of modules) as DIR/kernel/<boot id>-<hash>.kallsyms.zst and linked, where that
 * fails copied.  Those of earlier boots that no session links to are removed.  `session_dir` is DIR, `current_dir` where the link goes (it replaces one
 * that is there).  Recorders may do this at the same time.
 * 0; 1 if nothing was saved because the kernel hides the addresses (kptr_restrict); or a
 * negative errno. */
int kernel_files_save_kallsyms(const char *session_dir, const char *current_dir,
			       const char *boot_id, struct err *err);
/* `modules`: one line a module, "name 0xADDR SIZE BUILD-ID-HEX-or-- .text=0xADDR ...". */
int kernel_files_save_modules(const char *current_dir, struct err *err);
/* Of modules that came later: their lines are added to `modules` ... */
int kernel_files_add_modules(const char *current_dir, const struct proc_module *modules,
			     size_t nr, struct err *err);
/* ... and their symbols to `modules.kallsyms`, behind an empty line for each. */
int kernel_files_add_symbols(const char *current_dir, const struct proc_module *modules,
			     size_t nr, struct err *err);
/* The vdso mapped into this process: its bytes (borrowed, for ever) and their number.
 * 0 or -ENODATA. */
int kernel_files_own_vdso(const void **ret_bytes, size_t *ret_len);
/* `vdso-<build id>`: a vdso image; one that is there already is kept.  *ret_id is its
 * build-id (NULL is fine).  0, -EBADMSG (no ELF file with a build-id), or another negative
 * errno. */
int kernel_files_save_vdso(const char *current_dir, const void *bytes, size_t len,
			   struct build_id *ret_id, struct err *err);
/* Reads the vdso of another process at `start`..`end` and saves it likewise. */
int kernel_files_save_vdso_of(const char *current_dir, int pid, uint64_t start,
			      uint64_t end, struct build_id *ret_id, struct err *err);
