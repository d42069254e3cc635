#include "resolve/naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"
#include "resolve/binary.h"
#include "resolve/elf_file.h"
#include "resolve/kallsyms.h"
#include "resolve/module_list.h"
#include "resolve/naming_places.h"
#include "resolve/unnamed.h"

enum {
	KALLSYMS_MAX_BYTES = 256 << 20, /* unpacked; a large kernel has 15 MB */
	KALLSYMS_PACKED_MAX_BYTES = 64 << 20,
	KALLSYMS_RATIO_MAX = 1000, /* text packs to a fifth; more is a lie */
	MODULES_MAX_BYTES = 64 << 20
};

struct naming_entry {
	bool done;
	bool unnamed_done;       /* `unnamed` was made, or cannot be */
	struct unnamed *unnamed; /* for what `tab` does not cover; NULL: nothing */
	enum naming_status status;
	struct symtab *tab;
	char *from; /* NULL: nowhere */
};

struct naming {
	const struct dict *dict;
	const struct session_info *info;
	char *session_dir;
	struct naming_places *places;     /* NULL: nowhere else */
	VEC(struct naming_entry) entries; /* by image number */
	bool kallsyms_read;
	char *kallsyms_path;
	struct buf kallsyms;
	struct kallsyms_index kallsyms_index;
	bool modules_read;
	struct buf modules; /* the session's list of them */
};

int naming_new(const struct dict *dict, const struct session_info *info,
	       const char *session_dir, struct naming **ret_naming)
{
	struct naming *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->dict = dict;
	n->info = info;
	n->session_dir = strdup(session_dir);
	if (!n->session_dir ||
	    asprintf(&n->kallsyms_path, "%s/kallsyms.zst", session_dir) < 0) {
		n->kallsyms_path = NULL;
		naming_free(n);
		return -ENOMEM;
	}
	*ret_naming = n;
	return 0;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->entries.nr; i++) {
		unnamed_free(n->entries.at[i].unnamed);
		symtab_free(n->entries.at[i].tab);
		free(n->entries.at[i].from);
	}
	vec_done(&n->entries);
	kallsyms_index_done(&n->kallsyms_index);
	buf_done(&n->kallsyms);
	buf_done(&n->modules);
	free(n->kallsyms_path);
	free(n->session_dir);
	free(n);
}

void naming_use(struct naming *n, struct naming_places *p)
{
	n->places = p;
}

static struct binary_places binary_places_of(struct naming *n, bool with_index)
{
	return (struct binary_places){
		.session_dir = n->session_dir,
		.root = naming_places_root(n->places),
		.index = with_index ? naming_places_index(n->places) : NULL,
	};
}

/* A whole frame that tells its size, in one go.  False: look closer. */
static bool unpack_whole(const struct buf *packed, struct buf *out)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed->data, packed->len);
	size_t n;

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
	    size > KALLSYMS_MAX_BYTES || size / KALLSYMS_RATIO_MAX > packed->len ||
	    !buf_reserve(out, (size_t)size + 1))
		return false;
	n = ZSTD_decompress(out->data, (size_t)size, packed->data, packed->len);
	if (ZSTD_isError(n))
		return false;
	out->len = n;
	return true;
}

/* Unpacks what is a whole frame, or as much of a cut one as there is: kallsyms text is good
 * up to any line. */
static int unpack(const struct buf *packed, struct buf *out)
{
	ZSTD_DCtx *ctx;
	ZSTD_inBuffer in = { packed->data, packed->len, 0 };
	int r = 0;

	if (unpack_whole(packed, out))
		return 0;
	ctx = ZSTD_createDCtx();
	if (!ctx || out->failed) {
		ZSTD_freeDCtx(ctx);
		return -ENOMEM;
	}
	for (;;) {
		size_t step = ZSTD_DStreamOutSize();
		ZSTD_outBuffer to;
		size_t left;

		if (out->len > KALLSYMS_MAX_BYTES) {
			r = -EFBIG;
			break;
		}
		if (!buf_reserve(out, step)) {
			r = -ENOMEM;
			break;
		}
		to = (ZSTD_outBuffer){ out->data + out->len, step, 0 };
		left = ZSTD_decompressStream(ctx, &to, &in);
		out->len += to.pos;
		if (ZSTD_isError(left) || left == 0 ||
		    (to.pos < step && in.pos == in.size))
			break;
	}
	ZSTD_freeDCtx(ctx);
	return r;
}

/* The kallsyms text of the session, once; empty if it has none. */
static int read_kallsyms(struct naming *n)
{
	struct buf packed = { 0 };
	int fd;
	int r;

	if (n->kallsyms_read)
		return 0;
	fd = elf_open_regular(n->kallsyms_path);
	if (fd >= 0) {
		r = io_read_fd(fd, &packed, KALLSYMS_PACKED_MAX_BYTES);
		close(fd);
		if (!r)
			r = unpack(&packed, &n->kallsyms);
		buf_done(&packed);
		if (r == -ENOMEM)
			return r;
		if (r)
			buf_clear(&n->kallsyms);
	}
	n->kallsyms_read = true;
	return kallsyms_index(&n->kallsyms_index, (const char *)n->kallsyms.data,
			      n->kallsyms.len);
}

/* Notes where the symbols came from; a short memory shows as "". */
static void set_from(struct naming_entry *e, const char *path)
{
	e->from = strdup(path);
}

static int name_from_kallsyms(struct naming *n, const struct image *image,
			      const char *module, struct naming_entry *e)
{
	const struct kallsyms_part *part;
	int r = read_kallsyms(n);

	if (r)
		return r;
	e->status = NAMING_NO_KALLSYMS;
	part = kallsyms_part(&n->kallsyms_index, module);
	if (!part)
		return 0;
	r = symtab_load_kallsyms(n->kallsyms_index.text + part->begin,
				 part->end - part->begin, module, image->start, &e->tab,
				 NULL);
	if (r)
		return r == -ENOMEM ? r : 0;
	e->status = NAMING_OK;
	set_from(e, n->kallsyms_path);
	return 0;
}

/* The file given with --vmlinux, if it can be the kernel that ran.  Sets the status to
 * OTHER_FILE or the like if not; NAMING_NO_FILE if none was given. */
static int name_from_vmlinux(struct naming *n, const struct image *image,
			     struct naming_entry *e)
{
	const char *given = naming_places_vmlinux(n->places);
	const char *path = given[0] ? given : n->info->vmlinux;
	const struct build_id *ran =
		image->build_id.len ? &image->build_id : &n->info->kernel_build_id;
	struct build_id id = { 0 };
	int fd;
	int r;

	e->status = NAMING_NO_FILE;
	if (!path[0])
		return 0;
	fd = elf_open_regular(path);
	if (fd < 0) {
		naming_places_warn(n->places, path,
				   fd == -ENOENT ? NAMING_NO_FILE : NAMING_UNREADABLE,
				   false);
		return 0;
	}
	r = elf_build_id_fd(fd, &id, NULL);
	if (r == -EBADMSG) {
		e->status = NAMING_UNREADABLE;
	} else if (id.len && ran->len && !build_id_equal(&id, ran)) {
		e->status = NAMING_OTHER_FILE;
	} else {
		r = symtab_load_elf_fd(
			fd, image->start ? SYMTAB_FROM_TEXT : SYMTAB_ADDRESSES, &e->tab,
			NULL);
		e->status = r == -ENODATA        ? NAMING_NO_SYMBOLS
			    : r                  ? NAMING_UNREADABLE
			    : id.len && ran->len ? NAMING_OK
						 : NAMING_UNVERIFIED;
	}
	close(fd);
	if (e->tab)
		set_from(e, path);
	naming_places_warn(n->places, path, e->status, false);
	return r == -ENOMEM ? r : 0;
}

static int name_kernel(struct naming *n, const struct image *image,
		       struct naming_entry *e)
{
	int r = name_from_vmlinux(n, image, e);

	if (r || (e->tab && symtab_count(e->tab)))
		return r;
	symtab_free(e->tab);
	free(e->from);
	*e = (struct naming_entry){ 0 };
	return name_from_kallsyms(n, image, NULL, e);
}

/* The session's list of modules, once; empty if it has none. */
static const struct buf *read_modules(struct naming *n)
{
	char *path;

	if (n->modules_read)
		return &n->modules;
	n->modules_read = true;
	if (asprintf(&path, "%s/modules", n->session_dir) < 0)
		return &n->modules;
	if (io_read_file(path, &n->modules, MODULES_MAX_BYTES))
		buf_clear(&n->modules);
	free(path);
	return &n->modules;
}

/* A module's own file, where the image path has it and the session knows where the module's
 * sections were. */
static int name_from_ko(struct naming *n, const struct image *image, const char *module,
			struct naming_entry *e)
{
	struct binary_places places = binary_places_of(n, true);
	const struct buf *list;
	struct module_line line;
	struct binary b;
	int r;

	e->status = NAMING_NO_FILE;
	if (!places.index)
		return 0;
	list = read_modules(n);
	r = module_line_find((const char *)list->data, list->len, module, &line);
	if (r)
		return r == -ENOMEM ? r : 0;
	r = binary_find_module(&places, module,
			       image->build_id.len ? &image->build_id : &line.build_id,
			       &b);
	if (r) {
		module_line_done(&line);
		return r;
	}
	if (b.fd >= 0)
		r = symtab_load_module_fd(b.fd, line.places.at, line.places.nr,
					  image->start ? image->start : line.address,
					  &e->tab, NULL);
	if (e->tab) {
		e->status = b.status;
		set_from(e, b.path);
	}
	naming_places_warn(n->places, module, b.status, false);
	binary_close(&b);
	module_line_done(&line);
	return r == -ENOMEM ? r : 0;
}

/* A module's name as kallsyms has it: recordings may call it "[ext4]". */
static int name_module(struct naming *n, const struct image *image,
		       struct naming_entry *e)
{
	const char *name = dict_str(n->dict, image->name);
	size_t len = strlen(name);
	char *module;
	int r;

	if (len > 2 && name[0] == '[' && name[len - 1] == ']')
		module = strndup(name + 1, len - 2);
	else
		module = strdup(name);
	if (!module)
		return -ENOMEM;
	r = name_from_ko(n, image, module, e);
	if (!r && !e->tab)
		r = name_from_kallsyms(n, image, module, e);
	free(module);
	return r;
}

/* A BPF program is one symbol: its own name. */
static int name_bpf(struct naming *n, const struct image *image, struct naming_entry *e)
{
	uint64_t bytes =
		image->end > image->start ? image->end - image->start : UINT64_MAX;
	int r = symtab_of_one(dict_str(n->dict, image->name), bytes, image->start,
			      &e->tab);

	e->status = r ? NAMING_NO_SYMBOLS : NAMING_OK;
	return r;
}

/* The debug file's names are the fuller ones, where it has any. */
static int load_binary(const struct binary *b, struct naming_entry *e)
{
	int r = -ENODATA;

	if (b->debug_fd >= 0)
		r = symtab_load_elf_debug(b->fd, b->debug_fd, &e->tab, NULL);
	if (r == 0) {
		set_from(e, b->debug_path);
		return 0;
	}
	symtab_free(e->tab);
	e->tab = NULL;
	r = symtab_load_elf_fd(b->fd, SYMTAB_FILE_OFFSETS, &e->tab, NULL);
	if (r == 0 || r == -ENODATA)
		set_from(e, b->path);
	return r;
}

/* The folders of the image path are walked only if the binary is nowhere else. */
static int find_binary(struct naming *n, const struct image *image, const char *name,
		       struct binary *b)
{
	struct binary_places places = binary_places_of(n, false);
	int r = binary_find(&places, image, name, b);

	if (r || b->fd >= 0 || !naming_places_index(n->places))
		return r;
	places = binary_places_of(n, true);
	return binary_find(&places, image, name, b);
}

static int name_file(struct naming *n, const struct image *image,
		     struct naming_entry *e)
{
	const char *name = dict_str(n->dict, image->name);
	struct binary b;
	int r = find_binary(n, image, name, &b);

	if (r)
		return r;
	e->status = b.status;
	if (b.fd >= 0) {
		r = load_binary(&b, e);
		if (r == -ENODATA)
			e->status = NAMING_NO_SYMBOLS;
		else if (r)
			e->status = NAMING_UNREADABLE;
	}
	if (image->kind == IMAGE_FILE)
		naming_places_warn(n->places, name,
				   b.fd >= 0 && e->status != NAMING_UNREADABLE
					   ? b.status
					   : e->status,
				   !image->build_id.len);
	binary_close(&b);
	return r == -ENOMEM ? r : 0;
}

static int name_nothing(struct naming *n, const struct image *image,
			struct naming_entry *e)
{
	(void)n;
	(void)image;
	e->status = NAMING_NONE_EXPECTED;
	return 0;
}

static int (*const name_kind[IMAGE_COUNT])(struct naming *, const struct image *,
					   struct naming_entry *) = {
	[IMAGE_LOST] = name_nothing,
	[IMAGE_FILE] = name_file,
	[IMAGE_KERNEL] = name_kernel,
	[IMAGE_MODULE] = name_module,
	[IMAGE_BPF] = name_bpf,
	[IMAGE_VDSO] = name_file,
	[IMAGE_ANON] = name_nothing,
	[IMAGE_UNMAPPED] = name_nothing,
	[IMAGE_GUEST_KERNEL] = name_nothing,
	[IMAGE_GUEST_USER] = name_nothing,
	[IMAGE_HYPERVISOR] = name_nothing,
	[IMAGE_KERNEL_UNMAPPED] = name_nothing,
};

/* The entry, loaded; NULL when memory is short, or for a number that is no image. */
static struct naming_entry *entry_of(struct naming *n, uint32_t image)
{
	const struct image *i;
	struct naming_entry *e;

	if (image >= n->dict->images.nr)
		return NULL;
	while (n->entries.nr <= image) {
		if (!vec_push(&n->entries, (struct naming_entry){ 0 }))
			return NULL;
	}
	e = &n->entries.at[image];
	i = &n->dict->images.at[image];
	if (e->done)
		return e;
	e->status = NAMING_NONE_EXPECTED;
	if ((unsigned int)i->kind < IMAGE_COUNT && name_kind[i->kind](n, i, e)) {
		/* Out of memory: said as unreadable, and not tried for every sample. */
		symtab_free(e->tab);
		e->tab = NULL;
		e->status = NAMING_UNREADABLE;
	}
	e->done = true;
	return e;
}

const struct symtab *naming_symtab(struct naming *n, uint32_t image)
{
	const struct naming_entry *e = entry_of(n, image);

	return e ? e->tab : NULL;
}

enum naming_status naming_status(struct naming *n, uint32_t image,
				 const char **ret_from)
{
	const struct naming_entry *e = entry_of(n, image);

	*ret_from = e && e->from ? e->from : "";
	return e ? e->status : NAMING_NONE_EXPECTED;
}

/* Reads a part of the image's file for its unnamed code.  The file is looked for, and
 * proven, anew: descriptors of hundreds of images are not kept open. */
static void read_unnamed(struct naming *n, uint32_t image, enum unnamed_part part)
{
	const struct image *i = &n->dict->images.at[image];
	struct naming_entry *e = &n->entries.at[image];
	struct elf_file f;
	struct binary b;

	if (find_binary(n, i, dict_str(n->dict, i->name), &b))
		return;
	if (b.fd >= 0 && !elf_file_init_fd(&f, b.fd, NULL)) {
		if (!e->unnamed)
			(void)unnamed_new(&f, e->tab, &e->unnamed);
		if (e->unnamed)
			(void)unnamed_read(e->unnamed, &f, part);
		elf_file_done(&f);
	}
	binary_close(&b);
}

static const struct symbol *find_unnamed(struct naming *n, uint32_t image,
					 uint64_t offset, enum naming_kind *ret_kind)
{
	static const enum naming_kind kinds[] = {
		[UNNAMED_NAMED] = NAMING_SYMBOL,
		[UNNAMED_FUNCTION] = NAMING_FUNCTION,
		[UNNAMED_SECTION] = NAMING_SECTION,
	};
	struct naming_entry *e = &n->entries.at[image];
	enum image_kind kind = n->dict->images.at[image].kind;
	const struct symbol *s;
	enum unnamed_kind found = UNNAMED_NAMED;
	enum unnamed_part part;

	if (!e->tab || (kind != IMAGE_FILE && kind != IMAGE_VDSO))
		return NULL;
	if (!e->unnamed_done) {
		e->unnamed_done = true;
		read_unnamed(n, image, UNNAMED_READ_NOTHING);
	}
	if (!e->unnamed)
		return NULL;
	part = unnamed_needs(e->unnamed, offset);
	if (part != UNNAMED_READ_NOTHING)
		read_unnamed(n, image, part);
	s = unnamed_find(e->unnamed, offset, &found);
	*ret_kind = kinds[found];
	return s;
}

const struct symbol *naming_find(struct naming *n, uint32_t image, uint64_t offset,
				 enum naming_kind *ret_kind)
{
	const struct naming_entry *e = entry_of(n, image);
	const struct symbol *s = e && e->tab ? symtab_find(e->tab, offset) : NULL;
	enum naming_kind kind = NAMING_SYMBOL;

	if (e && !s)
		s = find_unnamed(n, image, offset, &kind);
	if (s && ret_kind)
		*ret_kind = kind;
	return s;
}
