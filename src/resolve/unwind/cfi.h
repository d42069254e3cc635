/* cfi.h - the entries of call frame information: which function has which program of rules.
 * Layer: resolve.  Everything is borrowed from the section's bytes.
 * Source of the format: DWARF 5, section 6.4.1 (.debug_frame); Linux Standard Base Core 5.0,
 * sections 10.5 and 10.6 (.eh_frame, and its DW_EH_PE_ encodings). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/* What the entries of one compiler run have in common. */
struct cfi_cie {
	uint8_t encoding;      /* of the entries' pointers */
	uint8_t address_bytes; /* of pointers that are not encoded */
	bool has_data;         /* the entries have augmentation data of their own */
	bool is_signal; /* frames of signals: they were interrupted, not called from */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	const uint8_t *program;
	size_t program_len;
};

struct cfi_fde {
	uint64_t start; /* link-time address; 0: a function that the linker dropped */
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
	size_t cie_at; /* of the one that is decoded */
	bool cie_known;
	bool cie_good;
	struct cfi_cie cie; /* of the FDE that came last */
};

struct elf_file;

/* Walks over an .eh_frame section that is mapped at `vaddr`, or a .debug_frame. */
struct cfi_walk cfi_walk_of(const void *bytes, size_t len, uint64_t vaddr, bool is64,
			    bool swap, bool debug_frame);
/* The next function.  What cannot be decoded is skipped; a broken chain of entries ends
 * there.  False at the end. */
bool cfi_next(struct cfi_walk *w, struct cfi_fde *ret_fde);
/* A pointer at the cursor, whose data begins at `vaddr`; fails it if the encoding is none of
 * those that linkers use for code. */
uint64_t cfi_pointer(struct cursor *c, uint64_t vaddr, unsigned int encoding,
		     bool is64);
/* The bytes of .eh_frame, found by its section's name or, without sections, through the
 * segment PT_GNU_EH_FRAME.  elf_file_sections() came before.  0: *ret_bytes is the caller's,
 * and NULL if there is none; -ENOMEM or an I/O error. */
int cfi_read_eh_frame(struct elf_file *f, uint8_t **ret_bytes, size_t *ret_len,
		      uint64_t *ret_vaddr);
