/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/pe_maker.h"

#include <string.h>

enum {
	SIGNATURE_AT = 0x80,
	OPTIONAL_AT = SIGNATURE_AT + 24,
	SECTIONS_AT = 0x200,
	EXPORTS_AT = 0x20, /* in .rdata */
	EXPORTS_BYTES = 0xc0,
	FUNCTIONS_AT = 0x100,
	DEBUG_AT = 0x190,
	RECORD_AT = 0x1d0,
	SYMBOL_BYTES = 18,
	NR_SYMBOLS = 5
};

static void put(struct pe_made *made, size_t at, uint64_t number, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		made->bytes[at + i] = (uint8_t)(number >> (8 * i));
}

static void put_text(struct pe_made *made, size_t at, const char *text)
{
	memcpy(made->bytes + at, text, strlen(text));
}

static void put_directory(struct pe_made *made, unsigned int i, uint32_t rva,
			  uint32_t bytes)
{
	size_t at = OPTIONAL_AT + (made->is32 ? 96 : 112) + 8 * (size_t)i;

	put(made, at, rva, 4);
	put(made, at + 4, bytes, 4);
}

static void put_headers(struct pe_made *made)
{
	put_text(made, 0, "MZ");
	put(made, 0x3c, SIGNATURE_AT, 4);
	put_text(made, SIGNATURE_AT, "PE");
	put(made, SIGNATURE_AT + 4, made->is32 ? 0x14c : 0x8664, 2);
	put(made, SIGNATURE_AT + 6, 3, 2);
	if (!made->no_symbols) {
		put(made, SIGNATURE_AT + 12, PE_MADE_SYMBOLS_AT, 4);
		put(made, SIGNATURE_AT + 16, NR_SYMBOLS, 4);
	}
	put(made, SIGNATURE_AT + 20, SECTIONS_AT - OPTIONAL_AT, 2);
	put(made, OPTIONAL_AT, made->is32 ? 0x10b : 0x20b, 2);
	put(made, OPTIONAL_AT + (made->is32 ? 28 : 24), PE_MADE_BASE,
	    made->is32 ? 4 : 8);
	put(made, OPTIONAL_AT + 68, made->subsystem ? made->subsystem : 3, 2);
	put(made, OPTIONAL_AT + (made->is32 ? 92 : 108), 16, 4);
	put_directory(made, 0, PE_MADE_DATA_RVA + EXPORTS_AT, EXPORTS_BYTES);
	put_directory(made, 3, PE_MADE_DATA_RVA + FUNCTIONS_AT, 36);
	put_directory(made, 6, PE_MADE_DATA_RVA + DEBUG_AT, 56);
}

static void put_section(struct pe_made *made, unsigned int i, const char *name,
			const uint32_t numbers[5])
{
	size_t at = SECTIONS_AT + 40 * (size_t)i;

	put_text(made, at, name);
	for (unsigned int k = 0; k < 4; k++)
		put(made, at + 8 + 4 * k, numbers[k], 4);
	put(made, at + 36, numbers[4], 4);
}

static void put_sections(struct pe_made *made)
{
	static const uint32_t text[] = { PE_MADE_TEXT_BYTES, PE_MADE_TEXT_RVA, 0x400,
					 PE_MADE_TEXT_AT, 0x60000020 };
	static const uint32_t data[] = { 0x200, PE_MADE_DATA_RVA, 0x200,
					 PE_MADE_DATA_AT, 0x40000040 };
	static const uint32_t bss[] = { 0x100, 0x3000, 0, 0, 0xc0000080 };

	put_section(made, 0, made->no_symbols ? ".text" : "/32", text);
	put_section(made, 1, ".rdata", data);
	put_section(made, 2, ".bss", bss);
}

/* Writes the exports: the directory, then the addresses, names and numbers of three exports, and
 * the texts. */
static void put_exports(struct pe_made *made)
{
	static const uint32_t functions[] = { PE_MADE_TEXT_RVA,
					      PE_MADE_TEXT_RVA + 0x200,
					      PE_MADE_DATA_RVA + 0xb0 };
	static const char *const names[] = { "first", "label", "other" };
	size_t at = PE_MADE_DATA_AT + EXPORTS_AT;
	uint32_t rva = PE_MADE_DATA_RVA + EXPORTS_AT;

	put(made, at + 20, 3, 4);
	put(made, at + 24, 3, 4);
	put(made, at + 28, rva + 0x28, 4);
	put(made, at + 32, rva + 0x38, 4);
	put(made, at + 36, rva + 0x48, 4);
	for (uint32_t i = 0; i < 3; i++) {
		put(made, at + 0x28 + 4 * i, functions[i], 4);
		put(made, at + 0x38 + 4 * i, rva + 0x50 + 8 * i, 4);
		put(made, at + 0x48 + 2 * i, i, 2);
		put_text(made, at + 0x50 + 8 * i, names[i]);
	}
	put_text(made, PE_MADE_DATA_AT + 0xb0, "DLL.other");
}

static void put_functions(struct pe_made *made)
{
	static const uint32_t ranges[][3] = { { 0x000, 0x080, 0x180 },
					      { 0x100, 0x160, 0x180 },
					      { 0x160, 0x180, 0x184 } };
	size_t at = PE_MADE_DATA_AT + FUNCTIONS_AT;

	for (size_t i = 0; i < 3; i++) {
		put(made, at + 12 * i, PE_MADE_TEXT_RVA + ranges[i][0], 4);
		put(made, at + 12 * i + 4, PE_MADE_TEXT_RVA + ranges[i][1], 4);
		put(made, at + 12 * i + 8, PE_MADE_DATA_RVA + ranges[i][2], 4);
	}
	put(made, PE_MADE_DATA_AT + 0x180, 1, 1);
	put(made, PE_MADE_DATA_AT + 0x184, 1 | 4 << 3, 1);
}

static void put_symbol(struct pe_made *made, unsigned int i, const char *name,
		       const uint32_t numbers[5])
{
	static const unsigned int bytes[] = { 4, 2, 2, 1, 1 };
	size_t at = PE_MADE_SYMBOLS_AT + SYMBOL_BYTES * (size_t)i;

	if (name)
		put_text(made, at, name);
	else
		put(made, at + 4, 4, 4);
	at += 8;
	for (unsigned int k = 0; k < 5; at += bytes[k], k++)
		put(made, at, numbers[k], bytes[k]);
}

/* Writes the debug directory: two entries, of which the second is the GUID
 * 01020304-0506-0708-090a-0b0c0d0e0f10. */
static void put_debug(struct pe_made *made)
{
	static const uint8_t guid[] = { 4, 3,  2,  1,  6,  5,  8,  7,
					9, 10, 11, 12, 13, 14, 15, 16 };
	size_t at = PE_MADE_DATA_AT + DEBUG_AT;

	put(made, at + 12, 4, 4);
	put(made, at + 28 + 12, 2, 4);
	put(made, at + 28 + 24, PE_MADE_DATA_AT + RECORD_AT, 4);
	put_text(made, PE_MADE_DATA_AT + RECORD_AT, "RSDS");
	memcpy(made->bytes + PE_MADE_DATA_AT + RECORD_AT + 4, guid, sizeof(guid));
}

/* Writes the symbols. Each has a value, section, type, class, and number of further entries. */
static void put_symbols(struct pe_made *made)
{
	static const uint32_t section[] = { 0, 1, 0, 3, 1 };
	static const uint32_t first[] = { 0, 1, 0x20, 2, 0 };
	static const uint32_t second[] = { 0x100, 1, 0x20, 3, 0 };
	static const uint32_t label[] = { 0x200, 1, 0, 2, 0 };
	size_t strings = PE_MADE_SYMBOLS_AT + NR_SYMBOLS * SYMBOL_BYTES;

	put_symbol(made, 0, ".text", section);
	put_symbol(made, 2, made->is32 ? "_first" : "first", first);
	put_symbol(made, 3, NULL, second);
	put_symbol(made, 4, made->is32 ? "_label" : "label", label);
	put(made, strings, 48, 4);
	put_text(made, strings + 4, "a_function_with_a_long_name");
	put_text(made, strings + 32, ".text_long_name");
}

void pe_made_fill(struct pe_made *made)
{
	memset(made->bytes, 0, sizeof(made->bytes));
	put_headers(made);
	put_sections(made);
	put_exports(made);
	put_functions(made);
	put_debug(made);
	if (!made->no_symbols)
		put_symbols(made);
}
