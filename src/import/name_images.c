/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/name_images.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "format/session/checksums.h"
#include "resolve/elf/build_id.h"

enum {
	CODE_OFFSET = 4096, /* start of the code, in the file and in memory */
	/* Size of the code for unknown functions, which no symbol covers. */
	UNNAMED_OFFSET = 64,
	/* Bytes of code per function; frames of callers are looked up one byte before their
	 * address. */
	NAME_BYTES = 4,
	NAME_MIDDLE = 2, /* the address of a frame within its function */
	ID_BYTES = 16
};

int name_images_init(struct name_images *n, struct dict *dict, uint64_t seed)
{
	*n = (struct name_images){ .dict = dict, .seed = seed };
	return strtab_init(&n->names);
}

void name_images_done(struct name_images *n)
{
	for (size_t i = 0; i < n->images.nr; i++)
		vec_done(&n->images.at[i].names);
	vec_done(&n->images);
	map_done(&n->image_by);
	map_done(&n->name_by);
	strtab_done(&n->names);
}

static struct build_id name_images_id_of(const struct name_images *n, const char *image)
{
	struct build_id id = { .len = ID_BYTES };
	uint64_t part = hash_bytes(image, strlen(image), n->seed);

	memcpy(id.bytes, &n->seed, sizeof(n->seed));
	memcpy(id.bytes + sizeof(n->seed), &part, sizeof(part));
	return id;
}

/* Returns the index in `images`, MAP_NONE if memory is short. */
static uint32_t find_image(struct name_images *n, const char *image)
{
	uint32_t name = dict_string(n->dict, image);
	uint32_t at = map_get(&n->image_by, name, 0);
	struct image made = { .name = name, .kind = IMAGE_FILE };
	struct name_image own = { 0 };

	if (name == DICT_NONE || at != MAP_NONE)
		return name == DICT_NONE ? MAP_NONE : at;
	made.build_id = name_images_id_of(n, image);
	own.image = dict_image(n->dict, &made);
	if (own.image == DICT_NONE || !vec_push(&n->images, own))
		return MAP_NONE;
	at = (uint32_t)n->images.nr - 1;
	return map_set(&n->image_by, name, 0, at) ? MAP_NONE : at;
}

uint32_t name_images_image(struct name_images *n, const char *image)
{
	uint32_t at = find_image(n, image);

	return at == MAP_NONE ? DICT_NONE : n->images.at[at].image;
}

/* Returns whether the name is unknown: other tools write "[libc.so.6]" for such code in
 * libc.so.6. */
static bool is_unnamed(const char *image, const char *name)
{
	const char *base = path_base(image);
	size_t len = strlen(base);

	return !*name || !strcmp(name, image) || !strcmp(name, "[unknown]") ||
	       (name[0] == '[' && !strncmp(name + 1, base, len) &&
		!strcmp(name + 1 + len, "]"));
}

/* Returns the number of a function name in an image, which is added if it is new; MAP_NONE if
 * memory is short. */
static uint32_t name_images_find_name(struct name_images *n, uint32_t image,
				      const char *name)
{
	struct name_image *i = &n->images.at[image];
	uint32_t number = strtab_add(&n->names, name);
	uint32_t at = map_get(&n->name_by, image, number);

	if (number == STRTAB_FAILED || at != MAP_NONE)
		return number == STRTAB_FAILED ? MAP_NONE : at;
	if (!vec_push(&i->names, number))
		return MAP_NONE;
	at = (uint32_t)i->names.nr - 1;
	return map_set(&n->name_by, image, number, at) ? MAP_NONE : at;
}

uint32_t name_images_frame(struct name_images *n, const char *image, const char *name)
{
	uint32_t at = find_image(n, image);
	uint32_t number;

	if (at == MAP_NONE)
		return DICT_NONE;
	if (is_unnamed(image, name))
		return dict_frame(n->dict, n->images.at[at].image, UNNAMED_OFFSET);
	number = name_images_find_name(n, at, name);
	return number == MAP_NONE
		       ? DICT_NONE
		       : dict_frame(n->dict, n->images.at[at].image,
				    CODE_OFFSET + (uint64_t)number * NAME_BYTES +
					    NAME_MIDDLE);
}

/* ---- a file ---- */

enum {
	SECTION_NOTE = 1,
	SECTION_TEXT,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_NAMES,
	NR_SECTIONS
};

static const char section_names[] =
	"\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0.shstrtab";

struct name_images_elf_file {
	struct buf bytes;
	Elf64_Shdr sections[NR_SECTIONS];
};

static uint32_t section_name(unsigned int section)
{
	const char *at = section_names;

	while (section--)
		at += strlen(at) + 1;
	return (uint32_t)(at - section_names);
}

static void name_images_pad(struct buf *b, size_t len)
{
	while (b->len < len && !b->failed)
		buf_put_u8(b, 0);
}

static void name_images_put_section(struct name_images_elf_file *f,
				    unsigned int section, const Elf64_Shdr *like,
				    const struct buf *content)
{
	Elf64_Shdr *s = &f->sections[section];

	name_images_pad(&f->bytes, (f->bytes.len + 7) & ~(size_t)7);
	*s = *like;
	s->sh_name = section_name(section);
	s->sh_offset = f->bytes.len;
	s->sh_size = content->len;
	buf_put(&f->bytes, content->data, content->len);
	f->bytes.failed |= content->failed;
}

static void put_note(struct name_images_elf_file *f, const struct build_id *id)
{
	const Elf64_Shdr like = { .sh_type = SHT_NOTE, .sh_addralign = 4 };
	const Elf64_Nhdr note = { .n_namesz = 4,
				  .n_descsz = id->len,
				  .n_type = NT_GNU_BUILD_ID };
	struct buf b = { 0 };

	buf_put(&b, &note, sizeof(note));
	buf_put(&b, "GNU", 4);
	buf_put(&b, id->bytes, id->len);
	name_images_put_section(f, SECTION_NOTE, &like, &b);
	buf_done(&b);
}

/* Adds a symbol with a few bytes of code for each name. */
static void name_images_put_symbols(struct name_images_elf_file *f,
				    const struct name_images *n,
				    const struct name_image *image)
{
	const Elf64_Shdr like_symbols = { .sh_type = SHT_SYMTAB,
					  .sh_link = SECTION_STRINGS,
					  .sh_info = 1,
					  .sh_addralign = 8,
					  .sh_entsize = sizeof(Elf64_Sym) };
	const Elf64_Shdr like_strings = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	Elf64_Sym symbol = { 0 };
	struct buf symbols = { 0 }, strings = { 0 };

	buf_put(&symbols, &symbol, sizeof(symbol));
	buf_put_u8(&strings, 0);
	for (size_t i = 0; i < image->names.nr; i++) {
		const char *name = strtab_get(&n->names, image->names.at[i]);

		symbol = (Elf64_Sym){ .st_name = (Elf64_Word)strings.len,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				      .st_shndx = SECTION_TEXT,
				      .st_value = CODE_OFFSET + i * NAME_BYTES,
				      .st_size = NAME_BYTES };
		buf_put(&symbols, &symbol, sizeof(symbol));
		buf_put(&strings, name, strlen(name) + 1);
	}
	strings.failed |= strings.len > UINT32_MAX;
	name_images_put_section(f, SECTION_SYMBOLS, &like_symbols, &symbols);
	name_images_put_section(f, SECTION_STRINGS, &like_strings, &strings);
	buf_done(&symbols);
	buf_done(&strings);
}

static void name_images_put_text(struct name_images_elf_file *f, size_t code_bytes)
{
	Elf64_Shdr *text = &f->sections[SECTION_TEXT];

	name_images_pad(&f->bytes, CODE_OFFSET);
	*text = (Elf64_Shdr){ .sh_name = section_name(SECTION_TEXT),
			      .sh_type = SHT_PROGBITS,
			      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			      .sh_addr = CODE_OFFSET,
			      .sh_offset = CODE_OFFSET,
			      .sh_size = code_bytes,
			      .sh_addralign = 1 };
	name_images_pad(&f->bytes, CODE_OFFSET + code_bytes);
}

static void name_images_put_heads(struct name_images_elf_file *f, size_t code_bytes)
{
	const Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
					       ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_phoff = sizeof(Elf64_Ehdr),
				  .e_shoff = f->bytes.len,
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 1,
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = NR_SECTIONS,
				  .e_shstrndx = SECTION_NAMES };
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_filesz = CODE_OFFSET + code_bytes,
				  .p_memsz = CODE_OFFSET + code_bytes,
				  .p_align = CODE_OFFSET };

	buf_put(&f->bytes, f->sections, sizeof(f->sections));
	if (f->bytes.failed)
		return;
	memcpy(f->bytes.data, &head, sizeof(head));
	memcpy(f->bytes.data + sizeof(head), &load, sizeof(load));
}

static int save_one(const struct name_images *n, const struct name_image *image,
		    const char *session, struct err *err)
{
	const struct build_id *id = &n->dict->images.at[image->image].build_id;
	const Elf64_Shdr like_names = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	struct buf names = { 0 };
	struct name_images_elf_file f = { 0 };
	char hex[2 * BUILD_ID_MAX + 1];
	char *path = NULL;
	int r = -ENOMEM;

	name_images_pad(&f.bytes, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
	put_note(&f, id);
	name_images_put_text(&f, image->names.nr * NAME_BYTES);
	name_images_put_symbols(&f, n, image);
	buf_put(&names, section_names, sizeof(section_names));
	name_images_put_section(&f, SECTION_NAMES, &like_names, &names);
	name_images_pad(&f.bytes, (f.bytes.len + 7) & ~(size_t)7);
	name_images_put_heads(&f, image->names.nr * NAME_BYTES);
	build_id_to_hex(id, hex);
	if (!f.bytes.failed && asprintf(&path, "%s/images/%s", session, hex) >= 0)
		r = checksums_write_file(path, f.bytes.data, f.bytes.len, 0644);
	else
		path = NULL;
	if (r)
		err_sys(err, r, "cannot write '%s'", path ? path : session);
	free(path);
	buf_done(&names);
	buf_done(&f.bytes);
	return r;
}

int name_images_save(const struct name_images *n, const char *session, struct err *err)
{
	char *dir;
	int r;

	if (asprintf(&dir, "%s/images", session) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = io_make_dirs(dir, 0755);
	if (r)
		err_sys(err, r, "cannot create '%s'", dir);
	for (size_t i = 0; !r && i < n->images.nr; i++)
		if (n->images.at[i].names.nr)
			r = save_one(n, &n->images.at[i], session, err);
	free(dir);
	return r;
}
