/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cfi.h - reads the entries of call frame information (CIEs and FDEs).
 * Layer: resolve. All data is borrowed from the section's bytes.
 * Source of the format: DWARF 5, section 6.4.1 (.debug_frame); Linux Standard Base Core 5.0,
 * sections 10.5 and 10.6 (.eh_frame, and its DW_EH_PE_ encodings). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/* A CIE: the common information of several FDEs. */
struct cfi_cie {
	uint8_t encoding;      /* of the pointers in FDEs */
	uint8_t address_bytes; /* size of pointers without encoding */
	bool has_data;         /* the FDEs have augmentation data */
	bool is_signal; /* signal frames: the caller was interrupted, it made no call */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	const uint8_t *program;
	size_t program_len;
};

struct cfi_fde {
	uint64_t start; /* link-time address; 0: removed by the linker */
	uint64_t bytes; /* never 0, and never beyond the end of the address space */
	const uint8_t *program;
	size_t program_len;
};

struct cfi_walk {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr; /* of bytes[0] */
	bool is64;
	bool swap;
	bool debug_frame;
	size_t pos;
	size_t cie_at; /* offset of the CIE that is decoded */
	bool cie_known;
	bool cie_good;
	struct cfi_cie cie; /* of the last FDE */
};

struct elf_file;

/* Returns a walk over an .eh_frame section that is mapped at `vaddr`, or over a .debug_frame. */
struct cfi_walk cfi_walk_of(const void *bytes, size_t len, uint64_t vaddr, bool is64,
			    bool swap, bool debug_frame);
/* Reads the next FDE. Skips entries that cannot be decoded, and ends where the chain of entries
 * is broken. Returns false at the end. */
bool cfi_next(struct cfi_walk *w, struct cfi_fde *ret_fde);
/* Reads a pointer at the cursor; c->data is at address `vaddr`. Sets the cursor's error flag if
 * linkers do not use this encoding for code. */
uint64_t cfi_pointer(struct cursor *c, uint64_t vaddr, unsigned int encoding,
		     bool is64);
/* Reads .eh_frame, located by its section name or, without sections, by the segment
 * PT_GNU_EH_FRAME. Call elf_file_sections() first. Returns 0: the caller frees *ret_bytes,
 * which is NULL if there is no .eh_frame; -ENOMEM or an I/O error. */
int cfi_read_eh_frame(struct elf_file *f, uint8_t **ret_bytes, size_t *ret_len,
		      uint64_t *ret_vaddr);
