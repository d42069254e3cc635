/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/symbol_rules.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "resolve/elf/file.h"

enum {
	OPD_MAX_BYTES = 1 << 26 /* of descriptors of 24 bytes */
};

int symbol_rules_init(struct symbol_rules *rules, struct elf_file *f)
{
	const struct elf_section *opd;
	int r;

	*rules = (struct symbol_rules){ .machine = f->machine, .swap = f->swap };
	rules->odd_is_mode = f->machine == EM_ARM || f->machine == EM_MIPS;
	rules->plain = !rules->odd_is_mode && f->machine != EM_PPC64;
	rules->function_types = 1 << STT_FUNC | 1 << STT_GNU_IFUNC;
	/* Before the EABI of ARM, Thumb functions had their own type. */
	if (f->machine == EM_ARM)
		rules->function_types |= 1 << STT_ARM_TFUNC;
	if (f->machine != EM_PPC64)
		return 0;
	r = elf_file_sections(f, NULL);
	opd = r ? NULL : elf_file_find_section(f, ".opd");
	/* In a file that is not linked, the descriptors are empty, and .opd has address 0. */
	if (opd && !opd->vaddr)
		opd = NULL;
	if (opd)
		r = elf_file_section_bytes(f, opd, OPD_MAX_BYTES, &rules->opd);
	if (opd && !r) {
		rules->opd_vaddr = opd->vaddr;
		rules->opd_bytes = opd->bytes;
	}
	return r == -ENOMEM ? r : 0;
}

void symbol_rules_done(struct symbol_rules *rules)
{
	free(rules->opd);
	rules->opd = NULL;
}

/* Returns whether a name is "$x", alone or followed by a dot and any text. */
static bool is_letter_mark(const char *name, const char *letters)
{
	return name[1] && strchr(letters, name[1]) && (!name[2] || name[2] == '.');
}

bool symbol_rules_is_mark(const struct symbol_rules *rules, const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	if (name[0] != '$')
		return false;
	switch (rules->machine) {
	case EM_ARM:
		return is_letter_mark(name, "atdbfpm");
	case EM_AARCH64:
		return is_letter_mark(name, "xdc");
	case EM_RISCV:
		/* "$x" can be followed by an instruction set: "$xrv64i2p1". */
		return name[1] == 'x' || is_letter_mark(name, "d");
	case EM_CSKY:
		return is_letter_mark(name, "td");
	case EM_MIPS:
		return name[1] == 'L';
	default:
		return false;
	}
}

/* Returns the name of the function: "foo" is the descriptor of the code at ".foo". */
static const char *without_dot(const char *name)
{
	bool dotted =
		name[0] == '.' && (isalpha((unsigned char)name[1]) || name[1] == '_');

	return dotted ? name + 1 : name;
}

static bool translate_address(const struct symbol_rules *rules, uint64_t *vaddr)
{
	struct cursor c;

	if (rules->odd_is_mode)
		*vaddr &= ~(uint64_t)1;
	if (!rules->opd || *vaddr < rules->opd_vaddr ||
	    *vaddr - rules->opd_vaddr >= rules->opd_bytes)
		return true;
	c = cursor_of(rules->opd, (size_t)rules->opd_bytes, rules->swap);
	c.pos = (size_t)(*vaddr - rules->opd_vaddr);
	*vaddr = cursor_u64(&c);
	return !c.failed && *vaddr;
}

bool symbol_rules_translate(const struct symbol_rules *rules, bool function,
			    const char **name, uint64_t *vaddr)
{
	if (rules->machine == EM_PPC64)
		*name = without_dot(*name);
	return !function || translate_address(rules, vaddr);
}
