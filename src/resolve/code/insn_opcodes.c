/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn_opcodes.c - disassembles x86 with libopcodes of binutils, whose text is objdump's. The
 * library is loaded at the first use. Its structures change between versions, so only the version
 * whose headers the build had is loaded (OPCODES_SONAME contains the version).
 * docs/decisions/0021-libopcodes-for-x86.md */
#define PACKAGE "oprofile" /* bfd.h requires it */
#include <dis-asm.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "resolve/code/insn.h"

#define DATA_MARK "# "

struct opcodes {
	disassembler_ftype print_insn;
	void (*free_target)(struct disassemble_info *info);
	struct disassemble_info info;
	bfd_byte bytes[INSN_BYTES_MAX];
	struct insn *now; /* being decoded */
	size_t len;       /* of its text */
};

struct opcodes_library {
	disassembler_ftype (*disassembler)(enum bfd_architecture arch, bool big,
					   unsigned long mach, bfd *abfd);
	void (*init_info)(struct disassemble_info *info, void *stream,
			  fprintf_ftype print, fprintf_styled_ftype print_styled);
	void (*init_target)(struct disassemble_info *info);
	void (*free_target)(struct disassemble_info *info);
};

static bool insn_opcodes_find(void *lib, const char *name, void *to)
{
	void *f = dlsym(lib, name);

	memcpy(to, &f, sizeof(f));
	return f;
}

/* Warns that the library cannot be used. If it is not installed, no message is needed: another
 * library decodes x86, with different text. */
static void insn_opcodes_warn(const char *reason)
{
	if (reason && !strstr(reason, strerror(ENOENT)))
		log_say_once(
			LOG_WARNING,
			"cannot load libopcodes (%s): instructions are not printed as by objdump",
			reason);
}

static bool insn_opcodes_load(struct opcodes_library *ret_library)
{
	void *lib = dlopen(OPCODES_SONAME, RTLD_NOW | RTLD_LOCAL); /* never unloaded */

	if (!lib)
		insn_opcodes_warn(dlerror());
	return lib &&
	       insn_opcodes_find(lib, "disassembler", &ret_library->disassembler) &&
	       insn_opcodes_find(lib, "init_disassemble_info",
				 &ret_library->init_info) &&
	       insn_opcodes_find(lib, "disassemble_init_for_target",
				 &ret_library->init_target) &&
	       insn_opcodes_find(lib, "disassemble_free_target",
				 &ret_library->free_target);
}

static int __attribute__((format(printf, 2, 0)))
insn_opcodes_append(struct opcodes *o, const char *format, va_list args)
{
	size_t room = sizeof(o->now->text) - o->len;
	int n = vsnprintf(o->now->text + o->len, room, format, args);

	if (n > 0)
		o->len += (size_t)n < room ? (size_t)n : room - 1;
	return n;
}

static int __attribute__((format(printf, 2, 3)))
insn_opcodes_print(void *stream, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = insn_opcodes_append(stream, format, args);
	va_end(args);
	return n;
}

static int __attribute__((format(printf, 3, 4)))
insn_opcodes_print_styled(void *stream, enum disassembler_style style,
			  const char *format, ...)
{
	va_list args;
	int n;

	(void)style;
	va_start(args, format);
	n = insn_opcodes_append(stream, format, args);
	va_end(args);
	return n;
}

/* Stores an address of the instruction. An address after "# " is that of data; any other is the
 * target of a jump. */
static void insn_opcodes_put_address(bfd_vma address, struct disassemble_info *info)
{
	struct opcodes *o = info->stream;
	size_t mark = strlen(DATA_MARK);

	if (o->len < mark || strcmp(o->now->text + o->len - mark, DATA_MARK) != 0) {
		o->now->has_target = true;
		o->now->target = address;
		return;
	}
	o->now->has_data = true;
	o->now->data = address;
	o->len -= mark;
	while (o->len && o->now->text[o->len - 1] == ' ')
		o->len--;
	o->now->text[o->len] = '\0';
}

/* Ignores the error for an instruction that ends beyond the bytes: it is not an instruction. */
static void insn_opcodes_ignore_error(int status, bfd_vma address,
				      struct disassemble_info *info)
{
	(void)status;
	(void)address;
	(void)info;
}

static unsigned long insn_opcodes_mach(const struct insn_machine *machine)
{
	if (machine->machine != EM_X86_64)
		return bfd_mach_i386_i386;
	return machine->is64 ? bfd_mach_x86_64 : bfd_mach_x64_32;
}

static void *open_opcodes(const char *triple, const struct insn_machine *machine)
{
	unsigned long mach = insn_opcodes_mach(machine);
	struct opcodes_library lib;
	struct opcodes *o;

	(void)triple;
	if (!insn_opcodes_load(&lib))
		return NULL;
	o = calloc(1, sizeof(*o));
	if (!o) {
		insn_opcodes_warn(strerror(ENOMEM));
		return NULL;
	}
	lib.init_info(&o->info, o, insn_opcodes_print, insn_opcodes_print_styled);
	o->print_insn = lib.disassembler(bfd_arch_i386, false, mach, NULL);
	o->free_target = lib.free_target;
	o->info.flavour = bfd_target_elf_flavour;
	o->info.arch = bfd_arch_i386;
	o->info.mach = mach;
	o->info.endian = o->info.endian_code = BFD_ENDIAN_LITTLE;
	o->info.print_address_func = insn_opcodes_put_address;
	o->info.memory_error_func = insn_opcodes_ignore_error;
	lib.init_target(&o->info);
	if (o->print_insn)
		return o;
	free(o); /* a library without x86 */
	return NULL;
}

static void insn_opcodes_trim(struct insn *insn, size_t len)
{
	while (len && !insn->has_target && insn->text[len - 1] == ' ')
		len--;
	insn->text[len] = '\0';
}

static unsigned int decode_opcodes(void *ctx, const uint8_t *bytes, size_t len,
				   uint64_t address, struct insn *ret_insn)
{
	struct opcodes *o = ctx;
	int n;
	bool is_bytes;

	o->now = ret_insn;
	o->len = 0;
	memcpy(o->bytes, bytes, len);
	o->info.buffer = o->bytes;
	o->info.buffer_length = len;
	o->info.buffer_vma = address;
	n = o->print_insn(address, &o->info);
	insn_opcodes_trim(ret_insn, o->len);
	/* True for bytes that are not an instruction, or whose instruction ends beyond them. */
	is_bytes = !strncmp(ret_insn->text, "(bad)", 5) ||
		   !strncmp(ret_insn->text, ".byte", 5);
	return n > 0 && !is_bytes ? (unsigned int)n : 0;
}

static void close_opcodes(void *ctx)
{
	struct opcodes *o = ctx;

	o->free_target(&o->info);
	free(o);
}

bool insn_has_opcodes(void)
{
	return true;
}

const struct insn_engine insn_opcodes = {
	.name = "libopcodes",
	.begin = open_opcodes,
	.decode = decode_opcodes,
	.end = close_opcodes,
};
