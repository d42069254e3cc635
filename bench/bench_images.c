/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_images.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_note.h"

enum {
	PAGE = 4096
};

__attribute__((noreturn)) static void die(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	exit(1);
}

/* Finds the executable segment and stores its place in the file. Returns the number to add to an
 * address in it to get its file offset. */
static uint64_t load_text(Elf *elf, struct bench_image *image)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		die(image->path, "no program headers");
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X))
			continue;
		image->text_off = ph.p_offset & ~(uint64_t)(PAGE - 1);
		image->text_len =
			(ph.p_offset + ph.p_filesz - image->text_off + PAGE - 1) &
			~(uint64_t)(PAGE - 1);
		return ph.p_offset - ph.p_vaddr;
	}
	die(image->path, "no executable segment");
}

static void load_functions(Elf_Data *data, size_t nr, uint64_t to_off,
			   struct bench_image *image)
{
	image->functions = calloc(nr ? nr : 1, sizeof(*image->functions));
	if (!image->functions)
		die(image->path, "no memory");
	for (size_t i = 0; i < nr; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_size ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		image->functions[image->nr_functions++] =
			(struct bench_function){ sym.st_value + to_off, sym.st_size };
	}
}

void bench_image_done(struct bench_image *image)
{
	free(image->functions);
	image->functions = NULL;
	image->nr_functions = 0;
}

/* Reads a symbol table, unless the table that was read before has as many symbols: .symtab
 * contains all symbols of .dynsym. */
static void load_table(Elf_Data *data, const GElf_Shdr *sh, uint64_t to_off,
		       struct bench_image *image)
{
	size_t nr = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;

	if (nr <= image->nr_symbols)
		return;
	bench_image_done(image);
	image->nr_symbols = nr;
	load_functions(data, nr, to_off, image);
}

static void load_build_id(Elf_Data *data, struct bench_image *image)
{
	const uint8_t *id;
	size_t len;

	if (elf_note_build_id(data->d_buf, data->d_size, false, &id, &len) ||
	    len > BUILD_ID_MAX)
		return;
	image->build_id.len = (uint8_t)len;
	memcpy(image->build_id.bytes, id, len);
}

void bench_image_load(const char *path, struct bench_image *ret_image)
{
	struct bench_image image = { .path = path };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	uint64_t to_off;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		die(path, "not an ELF file");
	to_off = load_text(elf, &image);
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr sh;

		if (!gelf_getshdr(section, &sh) || !data)
			continue;
		if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)
			load_table(data, &sh, to_off, &image);
		else if (sh.sh_type == SHT_NOTE && !image.build_id.len)
			load_build_id(data, &image);
	}
	elf_end(elf);
	close(fd);
	if (!image.nr_functions || !image.build_id.len)
		die(path, "no functions or no build-id");
	*ret_image = image;
}
