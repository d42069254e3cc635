/* code.h - the code of a binary: bytes, instructions and symbols by address.
 * Layer: resolve.  Not thread safe.  The file is hostile until parsed. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "resolve/symtab.h"

struct code;
struct err;
struct insn;

/* Opens the ELF file at `path`; symbols are those of `symbols_path` where it has none itself
 * (NULL: nowhere else).  Addresses below are its link-time addresses plus `shift`.
 * 0, -ENOTSUP (nothing here decodes its machine) or another negative errno, with a line. */
int code_open(const char *path, const char *symbols_path, uint64_t shift,
	      struct code **ret_code, struct err *err);
void code_close(struct code *c); /* NULL is fine */
/* The instruction at an address.  0 or -ENODATA: the file has no code there. */
int code_insn(struct code *c, uint64_t address, struct insn *ret_insn);
/* What covers an address, and *ret_start where it begins; NULL: nothing that is known. */
const struct symbol *code_symbol(const struct code *c, uint64_t address,
				 uint64_t *ret_start);
/* The section of an address, "" if there is none; borrowed. */
const char *code_section(struct code *c, uint64_t address);
/* As objdump calls it, "elf64-x86-64"; and who decodes it. */
const char *code_format(const struct code *c);
const char *code_engine(const struct code *c);
