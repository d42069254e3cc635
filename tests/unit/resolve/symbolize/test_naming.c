/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files/io.h"
#include "base/log.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/find/binary.h"
#include "resolve/find/debug_link.h"
#include "resolve/symbolize/naming.h"

enum {
	V = ELF_MAKER_VADDR,
	O = ELF_MAKER_OFFSET,
	KERNEL_OFFSET = 0x100
};

#define KERNEL_START 0xffffffff81000000
#define MODULE_START 0xffffffffc0000000

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000100 T do_it\n"
			       "ffffffff81000200 T _etext\n"
			       "ffffffffc0000010 t ext4_read\t[ext4]\n";

static const uint8_t id_bytes[] = { 0xaa, 0xbb, 0xcc, 0xdd };

struct fixture {
	char dir[64];
	struct dict dict;
	struct session_info info;
	struct naming *naming;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/test_naming.XXXXXX");
	if (!mkdtemp(f->dir) || dict_init(&f->dict))
		return -1;
	f->info.vmlinux = "";
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	naming_free(f->naming);
	dict_done(&f->dict);
	io_remove_tree(f->dir);
	free(f);
	return 0;
}

static void path_of(const struct fixture *f, const char *name, char *ret_path,
		    size_t len)
{
	snprintf(ret_path, len, "%s/%s", f->dir, name);
}

static void put_file(const struct fixture *f, const char *name, const void *bytes,
		     size_t len)
{
	char path[128];

	path_of(f, name, path, sizeof(path));
	assert_int_equal(io_write_file(path, bytes, len, 0644), 0);
}

static void put_kallsyms(const struct fixture *f)
{
	char packed[512];
	size_t len = ZSTD_compress(packed, sizeof(packed), kallsyms,
				   sizeof(kallsyms) - 1, 3);

	assert_false(ZSTD_isError(len));
	put_file(f, "kallsyms.zst", packed, len);
}

/* Writes an ELF file with one function `name` at O..O+0x10, and a build-id if wanted. */
static void put_elf(const struct fixture *f, const char *file, const char *name,
		    bool with_id)
{
	const struct elf_maker_symbol symbols[] = {
		{ "_text", V, 0x10, STT_FUNC, STB_GLOBAL, ELF_MAKER_TEXT },
		{ name, V + KERNEL_OFFSET, 0x10, STT_FUNC, STB_GLOBAL, ELF_MAKER_TEXT },
	};
	struct elf_maker m = { .is64 = true,
			       .symbols = symbols,
			       .nr_symbols = 2,
			       .build_id = with_id ? id_bytes : NULL,
			       .build_id_len = with_id ? sizeof(id_bytes) : 0 };
	struct buf b = { 0 };

	elf_maker_write(&m, &b);
	put_file(f, file, b.data, b.len);
	buf_done(&b);
}

static struct build_id the_id(void)
{
	struct build_id id = { .len = sizeof(id_bytes) };

	memcpy(id.bytes, id_bytes, sizeof(id_bytes));
	return id;
}

static uint32_t add(struct fixture *f, struct image image, const char *name)
{
	image.name = dict_string(&f->dict, name);
	return dict_image(&f->dict, &image);
}

/* Makes an image of kind FILE in the fixture's directory. */
static uint32_t add_file(struct fixture *f, struct image image, const char *file)
{
	char path[128];

	path_of(f, file, path, sizeof(path));
	image.kind = IMAGE_FILE;
	return add(f, image, path);
}

static void start(struct fixture *f)
{
	assert_int_equal(naming_new(&f->dict, &f->info, f->dir, &f->naming), 0);
}

static const char *name_at(struct fixture *f, uint32_t image, uint64_t offset)
{
	const struct symtab *tab = naming_symtab(f->naming, image);
	const struct symbol *s = tab ? symtab_find(tab, offset) : NULL;

	assert_ptr_equal(naming_symtab(f->naming, image), tab);
	return s ? s->name : "-";
}

static void expect(struct fixture *f, uint32_t image, enum naming_status status,
		   const char *from_end)
{
	const char *from;
	enum naming_status is = naming_status(f->naming, image, &from);
	size_t len = strlen(from);
	size_t end_len = strlen(from_end);

	assert_int_equal(is, status);
	if (!end_len)
		assert_string_equal(from, "");
	else if (len < end_len || strcmp(from + len - end_len, from_end) != 0)
		fail_msg("from %s, not %s", from, from_end);
}

static void kernel_and_modules(void **state)
{
	struct fixture *f = *state;
	uint32_t kernel =
		add(f, (struct image){ .kind = IMAGE_KERNEL, .start = KERNEL_START },
		    "[kernel.kallsyms]");
	uint32_t ext4 =
		add(f, (struct image){ .kind = IMAGE_MODULE, .start = MODULE_START },
		    "ext4");
	uint32_t xfs =
		add(f, (struct image){ .kind = IMAGE_MODULE, .start = MODULE_START },
		    "xfs");

	put_kallsyms(f);
	start(f);
	assert_string_equal(name_at(f, kernel, 0x1ff), "do_it");
	assert_string_equal(name_at(f, ext4, 0x10), "ext4_read");
	assert_string_equal(name_at(f, ext4, 0), "-");
	assert_string_equal(name_at(f, xfs, 0x10), "-");
	expect(f, kernel, NAMING_OK, "/kallsyms.zst");
	expect(f, xfs, NAMING_NO_KALLSYMS, "");
}

static void kernel_without_kallsyms(void **state)
{
	struct fixture *f = *state;
	uint32_t kernel =
		add(f, (struct image){ .kind = IMAGE_KERNEL }, "[kernel.kallsyms]");

	/* This machine's /proc/kallsyms belongs to another kernel. */
	start(f);
	assert_string_equal(name_at(f, kernel, 0), "-");
	expect(f, kernel, NAMING_NO_KALLSYMS, "");
}

static void damaged_kallsyms(void **state)
{
	struct fixture *f = *state;
	uint32_t kernel =
		add(f, (struct image){ .kind = IMAGE_KERNEL, .start = KERNEL_START },
		    "[kernel.kallsyms]");

	put_file(f, "kallsyms.zst", "not zstd at all", 15);
	start(f);
	expect(f, kernel, NAMING_NO_KALLSYMS, "");
}

static void vmlinux(void **state)
{
	struct fixture *f = *state;
	char path[128];
	uint32_t kernel =
		add(f, (struct image){ .kind = IMAGE_KERNEL, .start = KERNEL_START },
		    "[kernel.kallsyms]");

	put_kallsyms(f);
	put_elf(f, "vmlinux", "from_vmlinux", true);
	path_of(f, "vmlinux", path, sizeof(path));
	f->info.vmlinux = path;
	f->info.kernel_build_id = the_id();
	start(f);
	assert_string_equal(name_at(f, kernel, KERNEL_OFFSET), "from_vmlinux");
	expect(f, kernel, NAMING_OK, "/vmlinux");
	naming_free(f->naming);
	f->info.kernel_build_id.bytes[0]++; /* another kernel: kallsyms instead */
	start(f);
	assert_string_equal(name_at(f, kernel, KERNEL_OFFSET), "do_it");
	naming_free(f->naming);
	f->info.kernel_build_id.len = 0;
	start(f);
	assert_string_equal(name_at(f, kernel, KERNEL_OFFSET), "from_vmlinux");
	expect(f, kernel, NAMING_UNVERIFIED, "/vmlinux");
	naming_free(f->naming);
	f->naming = NULL;
}

static void file_by_build_id(void **state)
{
	struct fixture *f = *state;
	struct image image = { .build_id = the_id() };
	uint32_t good = add_file(f, image, "good");
	uint32_t replaced, stripped, missing;

	replaced = add_file(f, image, "replaced");
	missing = add_file(f, image, "missing");
	image.build_id.bytes[3]++;
	stripped = add_file(f, image, "good");
	put_elf(f, "good", "right", true);
	put_elf(f, "replaced", "wrong", false);
	start(f);
	assert_string_equal(name_at(f, good, O + KERNEL_OFFSET), "right");
	expect(f, good, NAMING_OK, "/good");
	assert_string_equal(name_at(f, replaced, O + KERNEL_OFFSET), "-");
	expect(f, replaced, NAMING_OTHER_FILE, "");
	expect(f, missing, NAMING_NO_FILE, "");
	expect(f, stripped, NAMING_OTHER_FILE, "");
}

static void file_by_inode_and_age(void **state)
{
	struct fixture *f = *state;
	char path[128];
	struct stat st;
	struct image image = { 0 };
	uint32_t all, age, changed, grown, nothing;

	put_elf(f, "plain", "name", false);
	path_of(f, "plain", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	nothing = add_file(f, image, "plain");
	image.mtime_ns = clock_ns(st.st_mtim);
	image.file_bytes = (uint64_t)st.st_size;
	age = add_file(f, image, "plain");
	image.dev = st.st_dev;
	image.inode = st.st_ino;
	all = add_file(f, image, "plain");
	image.mtime_ns++;
	changed = add_file(f, image, "plain");
	image.mtime_ns--;
	image.file_bytes++;
	grown = add_file(f, image, "plain");
	start(f);
	expect(f, all, NAMING_OK, "/plain");
	assert_string_equal(name_at(f, all, O + KERNEL_OFFSET), "name");
	expect(f, age, NAMING_UNVERIFIED, "/plain");
	expect(f, nothing, NAMING_UNVERIFIED, "/plain");
	expect(f, changed, NAMING_OTHER_FILE, "");
	expect(f, grown, NAMING_OTHER_FILE, "");
}

static void copies_in_the_session(void **state)
{
	struct fixture *f = *state;
	struct image image = { .build_id = the_id() };
	uint32_t deleted, gone, vdso, by_inode;
	char path[128];

	path_of(f, "images", path, sizeof(path));
	assert_int_equal(io_make_dirs(path, 0755), 0);
	put_elf(f, "images/aabbccdd", "from_copy", true);
	put_elf(f, "images/7-9", "from_inode", false);
	put_elf(f, "vdso-aabbccdd", "vdso_time", true);
	put_elf(f, "prog (deleted)", "not this", false);
	deleted = add_file(f, image, "prog (deleted)");
	image.kind = IMAGE_VDSO;
	vdso = add(f, image, "[vdso]");
	image = (struct image){ .dev = 7, .inode = 9, .mtime_ns = 1, .file_bytes = 1 };
	by_inode = add_file(f, image, "prog (deleted)");
	image.inode = 10;
	gone = add_file(f, image, "prog (deleted)");
	start(f);
	assert_string_equal(name_at(f, deleted, O + KERNEL_OFFSET), "from_copy");
	expect(f, deleted, NAMING_OK, "/images/aabbccdd");
	assert_string_equal(name_at(f, vdso, O + KERNEL_OFFSET), "vdso_time");
	assert_string_equal(name_at(f, by_inode, O + KERNEL_OFFSET), "from_inode");
	expect(f, by_inode, NAMING_OK, "/images/7-9");
	expect(f, gone, NAMING_NO_FILE, "");
}

/* Another user can forge the build-id of a file, but not the identity of another one. */
static void a_copy_of_one_file(void **state)
{
	struct fixture *f = *state;
	struct image image = { .kind = IMAGE_FILE,
			       .build_id = the_id(),
			       .dev = 7,
			       .inode = 9,
			       .inode_gen = 3,
			       .mtime_ns = 1,
			       .file_bytes = 1 };
	uint32_t of_file, later, plain, later_plain;
	char path[128];
	char *copy = binary_copy_path("", &image, BINARY_COPY_OF_FILE), *by_inode;

	path_of(f, "images", path, sizeof(path));
	assert_int_equal(io_make_dirs(path, 0755), 0);
	put_elf(f, copy + 1, "of_file", true);
	of_file = add_file(f, image, "prog (deleted)");
	image.inode_gen++;
	later = add_file(f, image, "other (deleted)");
	image.build_id.len = 0;
	by_inode = binary_copy_path("", &image, BINARY_COPY_OF_FILE);
	put_elf(f, by_inode + 1, "by_inode", false);
	plain = add_file(f, image, "prog (deleted)");
	image.mtime_ns++;
	later_plain = add_file(f, image, "other (deleted)");
	start(f);
	expect(f, of_file, NAMING_OK, copy);
	assert_string_equal(name_at(f, of_file, O + KERNEL_OFFSET), "of_file");
	expect(f, later, NAMING_NO_FILE, "");
	expect(f, plain, NAMING_OK, by_inode);
	expect(f, later_plain, NAMING_NO_FILE, "");
	free(copy);
	free(by_inode);
}

/* A copy can be one of any file that claimed the build-id. The copy is used if the file was
 * stripped or rebuilt. */
static void an_untouched_file_goes_before_a_copy(void **state)
{
	struct fixture *f = *state;
	struct image image = { .build_id = the_id(), .inode = 9 };
	uint32_t library, changed, grown, unknown;
	char path[128];
	struct stat st;

	path_of(f, "images", path, sizeof(path));
	assert_int_equal(io_make_dirs(path, 0755), 0);
	put_elf(f, "images/aabbccdd", "from_copy", true);
	put_elf(f, "library", "from_path", true);
	put_elf(f, "stripped", "from_path", true);
	put_elf(f, "grown", "from_path", true);
	put_elf(f, "import", "from_path", true);
	unknown = add_file(f, image, "import");
	path_of(f, "library", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	image.mtime_ns = clock_ns(st.st_mtim);
	image.file_bytes = (uint64_t)st.st_size;
	library = add_file(f, image, "library");
	image.mtime_ns = 1;
	changed = add_file(f, image, "stripped");
	path_of(f, "grown", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	image.mtime_ns = clock_ns(st.st_mtim);
	image.file_bytes++;
	grown = add_file(f, image, "grown");
	start(f);
	expect(f, library, NAMING_OK, "/library");
	assert_string_equal(name_at(f, library, O + KERNEL_OFFSET), "from_path");
	expect(f, changed, NAMING_OK, "/images/aabbccdd");
	expect(f, grown, NAMING_OK, "/images/aabbccdd");
	expect(f, unknown, NAMING_OK, "/images/aabbccdd");
}

static void files_that_are_no_files(void **state)
{
	struct fixture *f = *state;
	struct image image = { .kind = IMAGE_FILE };
	char path[128];
	uint32_t fifo, device, text, empty;

	path_of(f, "fifo", path, sizeof(path));
	assert_int_equal(mkfifo(path, 0644), 0);
	put_file(f, "text", "#!/bin/sh\n", 10);
	put_file(f, "empty", "", 0);
	fifo = add_file(f, image, "fifo");
	text = add_file(f, image, "text");
	empty = add_file(f, image, "empty");
	device = add(f, image, "/dev/zero");
	start(f);
	expect(f, fifo, NAMING_UNREADABLE, "");
	expect(f, text, NAMING_UNREADABLE, "");
	expect(f, empty, NAMING_UNREADABLE, "");
	expect(f, device, NAMING_UNREADABLE, "");
}

static void other_kinds(void **state)
{
	struct fixture *f = *state;
	uint32_t bpf = add(f,
			   (struct image){ .kind = IMAGE_BPF,
					   .start = MODULE_START,
					   .end = MODULE_START + 0x100 },
			   "bpf_prog_1_x");
	uint32_t anon =
		add(f, (struct image){ .kind = IMAGE_ANON, .pid = 1 }, "//anon");

	start(f);
	assert_string_equal(name_at(f, bpf, 0xff), "bpf_prog_1_x");
	assert_string_equal(name_at(f, bpf, 0x100), "-");
	expect(f, bpf, NAMING_OK, "");
	assert_string_equal(name_at(f, anon, 0), "-");
	expect(f, anon, NAMING_NONE_EXPECTED, "");
	expect(f, 12345, NAMING_NONE_EXPECTED, "");
}

/* A library stripped by the distribution, with its symbols in a separate package. */
static void separate_debug_file(void **state)
{
	static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	struct fixture *f = *state;
	struct image image = { .kind = IMAGE_FILE };
	char hex[2 * BUILD_ID_MAX + 1];
	char debug[128];
	struct stat st;
	const struct symbol *s;
	uint32_t number;

	if (elf_build_id(libc, &image.build_id, NULL))
		skip();
	build_id_to_hex(&image.build_id, hex);
	snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex,
		 hex + 2);
	if (stat(debug, &st))
		skip();
	number = add(f, image, libc);
	start(f);
	expect(f, number, NAMING_OK, ".debug");
	/* A local function, which is not in .dynsym. */
	for (size_t i = 0;; i++) {
		s = symtab_at(naming_symtab(f->naming, number), i);
		if (!s)
			fail_msg("no _int_malloc in %s", debug);
		if (strcmp(s->name, "_int_malloc") == 0)
			break;
	}
	assert_int_equal(symtab_vaddr(naming_symtab(f->naming, number), s->offset).v,
			 s->vaddr.v);
	assert_string_equal(name_at(f, number, s->offset + 4), "_int_malloc");
}

/* The warnings, one per line. */
static char warnings[2000];

static void note_warning(enum log_level level, const char *text)
{
	if (level != LOG_WARNING)
		return;
	strncat(warnings, text, sizeof(warnings) - strlen(warnings) - 1);
	strncat(warnings, "\n", sizeof(warnings) - strlen(warnings) - 1);
}

static void expect_warnings(const struct fixture *f, const char *format)
{
	char expected[2000];
	/* Each %s of the format is replaced by the fixture's directory. */
	size_t len = 0;

	for (; *format && len + sizeof(f->dir) < sizeof(expected); format++) {
		if (format[0] == '%' && format[1] == 's') {
			len += (size_t)snprintf(expected + len, sizeof(f->dir), "%s",
						f->dir);
			format++;
		} else {
			expected[len++] = *format;
		}
	}
	expected[len] = '\0';
	assert_string_equal(warnings, expected);
	warnings[0] = '\0';
}

static void make_folder(const struct fixture *f, const char *name)
{
	char path[128];

	path_of(f, name, path, sizeof(path));
	assert_int_equal(io_make_dirs(path, 0755), 0);
}

/* Looks up names of the images at `root` and below `folder` of the fixture. */
static struct naming_locations *start_with(struct fixture *f, const char *root,
					   const char *folder)
{
	struct naming_locations *locations;
	char root_path[128];
	char folder_path[128];
	const char *folders[] = { folder_path, NULL };
	struct naming_options options = { 0 };

	path_of(f, root ? root : "", root_path, sizeof(root_path));
	path_of(f, folder ? folder : "", folder_path, sizeof(folder_path));
	options.root = root ? root_path : NULL;
	options.image_path = folder ? folders : NULL;
	assert_int_equal(naming_locations_new(&options, &locations), 0);
	start(f);
	naming_use(f->naming, locations);
	return locations;
}

static void end_with(struct fixture *f, struct naming_locations *locations)
{
	naming_free(f->naming);
	f->naming = NULL;
	naming_locations_free(locations);
}

static void below_a_root(void **state)
{
	struct fixture *f = *state;
	struct image image = { .kind = IMAGE_FILE, .build_id = the_id() };
	uint32_t prog = add(f, image, "/usr/bin/no-such-prog");
	struct naming_locations *locations;

	make_folder(f, "other/usr/bin");
	put_elf(f, "other/usr/bin/no-such-prog", "right", true);
	locations = start_with(f, "other/", NULL);
	assert_string_equal(name_at(f, prog, O + KERNEL_OFFSET), "right");
	expect(f, prog, NAMING_OK, "/other/usr/bin/no-such-prog");
	end_with(f, locations);
}

static void in_the_image_path(void **state)
{
	struct fixture *f = *state;
	struct image image = { .kind = IMAGE_FILE, .build_id = the_id() };
	uint32_t proven = add(f, image, "/gone/prog");
	uint32_t none = add(f, image, "/gone/none");
	uint32_t twice, other, only;
	struct naming_locations *locations;

	image.build_id.bytes[0]++;
	other = add(f, image, "/gone/prog");
	image.build_id.len = 0;
	twice = add(f, image, "/gone/prog");
	only = add(f, image, "/gone/only");
	make_folder(f, "path/a");
	make_folder(f, "path/b");
	put_elf(f, "path/a/prog", "wrong", false);
	put_elf(f, "path/b/prog", "right", true);
	put_elf(f, "path/b/only", "only", false);
	log_set_sink(note_warning);
	locations = start_with(f, NULL, "path");
	assert_string_equal(name_at(f, proven, O + KERNEL_OFFSET), "right");
	expect(f, proven, NAMING_OK, "/path/b/prog");
	expect_warnings(f, "");
	expect(f, twice, NAMING_AMBIGUOUS, "");
	expect_warnings(f, "/gone/prog matches more than one file: detailed profile "
			   "will not be provided.\n");
	expect(f, only, NAMING_UNVERIFIED, "/path/b/only");
	expect_warnings(f, "could not check that the binary file /gone/only has not "
			   "been modified since the profile was taken. Results may "
			   "be inaccurate.\n");
	expect(f, none, NAMING_NO_FILE, "");
	expect_warnings(f, "/gone/none could not be found.\n");
	expect(f, other, NAMING_OTHER_FILE, "");
	expect_warnings(f, ""); /* the warning about that name was printed before */
	end_with(f, locations);
	log_set_sink(NULL);
}

static void warnings_of_files(void **state)
{
	struct fixture *f = *state;
	struct image image = { .kind = IMAGE_FILE, .build_id = the_id() };
	uint32_t replaced = add_file(f, image, "replaced");
	uint32_t older, text;
	struct naming_locations *locations;

	image.build_id.len = 0;
	image.mtime_ns = 1;
	older = add_file(f, image, "older");
	image.mtime_ns = 0;
	text = add_file(f, image, "text");
	put_elf(f, "replaced", "x", false);
	put_elf(f, "older", "x", false);
	put_file(f, "text", "text", 4);
	log_set_sink(note_warning);
	locations = start_with(f, NULL, NULL);
	expect(f, replaced, NAMING_OTHER_FILE, "");
	expect_warnings(f, "the build-id of the binary file does not match that of the "
			   "sample file for %s/replaced\nEither this is the wrong "
			   "binary or the binary has been modified since the sample "
			   "file was created.\n");
	expect(f, older, NAMING_OTHER_FILE, "");
	expect_warnings(f, "the last modified time of the binary file does not match "
			   "that of the sample file for %s/older\n");
	expect(f, text, NAMING_UNREADABLE, "");
	expect_warnings(f, "%s/text could not be read, or is not in a usable binary "
			   "format.\n");
	/* The next segment of the report has the same images. */
	naming_free(f->naming);
	start(f);
	naming_use(f->naming, locations);
	expect(f, text, NAMING_UNREADABLE, "");
	expect_warnings(f, "");
	end_with(f, locations);
	log_set_sink(NULL);
}

static void vmlinux_given_to_the_report(void **state)
{
	struct fixture *f = *state;
	char path[128];
	struct naming_options options = { .vmlinux = path };
	struct naming_locations *locations;
	uint32_t kernel =
		add(f, (struct image){ .kind = IMAGE_KERNEL, .start = KERNEL_START },
		    "[kernel.kallsyms]");

	put_kallsyms(f);
	put_elf(f, "vmlinux", "from_vmlinux", true);
	path_of(f, "vmlinux", path, sizeof(path));
	f->info.vmlinux = "/nonexistent";
	f->info.kernel_build_id = the_id();
	assert_int_equal(naming_locations_new(&options, &locations), 0);
	start(f);
	naming_use(f->naming, locations);
	assert_string_equal(name_at(f, kernel, KERNEL_OFFSET), "from_vmlinux");
	expect(f, kernel, NAMING_OK, "/vmlinux");
	end_with(f, locations);
}

static void module_in_the_image_path(void **state)
{
	static const char list[] =
		"my_mod 0xffffffffc0000000 8192 aabbccdd .text=0xffffffffc0001000\n";
	static const struct elf_maker_section text = {
		".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, "1234", 4, 0, 0
	};
	static const struct elf_maker_symbol symbol = {
		"from_ko", 0, 4, STT_FUNC, STB_LOCAL, ELF_MAKER_FIRST_EXTRA
	};
	struct fixture *f = *state;
	struct elf_maker m = { .is64 = true,
			       .symbols = &symbol,
			       .nr_symbols = 1,
			       .sections = &text,
			       .nr_sections = 1,
			       .build_id = id_bytes,
			       .build_id_len = sizeof(id_bytes) };
	struct image image = { .kind = IMAGE_MODULE, .start = MODULE_START };
	uint32_t good = add(f, image, "[my_mod]");
	uint32_t bad;
	struct naming_locations *locations;
	struct buf b = { 0 };

	image.build_id = the_id();
	image.build_id.bytes[0]++;
	bad = add(f, image, "[my_mod]");
	elf_maker_write(&m, &b);
	make_folder(f, "lib");
	put_file(f, "lib/my-mod.ko", b.data, b.len);
	put_file(f, "modules", list, sizeof(list) - 1);
	buf_done(&b);
	locations = start_with(f, NULL, "lib");
	assert_string_equal(name_at(f, good, 0x1003), "from_ko");
	expect(f, good, NAMING_OK, "/lib/my-mod.ko");
	assert_string_equal(name_at(f, bad, 0x1003), "-");
	expect(f, bad, NAMING_NO_KALLSYMS, "");
	end_with(f, locations);
}

/* A binary without symbols, and its separate debug file. */
static void debug_file_by_link(void **state)
{
	struct fixture *f = *state;
	const struct elf_maker_symbol symbol = {
		"from_debug", V, 0x10, STT_FUNC, STB_LOCAL, ELF_MAKER_TEXT
	};
	struct elf_maker debug = { .is64 = true, .symbols = &symbol, .nr_symbols = 1 };
	uint8_t link[12] = "x.debug";
	struct elf_maker_section section = {
		".gnu_debuglink", SHT_PROGBITS, 0, 0, link, sizeof(link), 0, 0
	};
	struct elf_maker m = { .is64 = true, .sections = &section, .nr_sections = 1 };
	struct image image = { 0 };
	uint32_t prog = add_file(f, image, "prog");
	uint32_t changed = add_file(f, image, "changed");
	struct buf b = { 0 };
	uint32_t crc;

	elf_maker_write(&debug, &b);
	make_folder(f, ".debug");
	put_file(f, ".debug/x.debug", b.data, b.len);
	crc = debug_link_crc(0, b.data, b.len);
	for (unsigned int i = 0; i < 4; i++)
		link[8 + i] = (uint8_t)(crc >> (8 * i));
	buf_clear(&b);
	elf_maker_write(&m, &b);
	put_file(f, "prog", b.data, b.len);
	link[8] ^= 1;
	buf_clear(&b);
	elf_maker_write(&m, &b);
	put_file(f, "changed", b.data, b.len);
	buf_done(&b);
	start(f);
	assert_string_equal(name_at(f, prog, O), "from_debug");
	expect(f, prog, NAMING_UNVERIFIED, "/.debug/x.debug");
	assert_string_equal(name_at(f, changed, O), "-");
	expect(f, changed, NAMING_NO_SYMBOLS, "/changed");
}

/* Code without a symbol is named by its unwind entry. */
static void unnamed_code(void **state)
{
	static const uint8_t frames[] = {
		12, 0, 0,    0, 0,    0, 0,  0, 1, 0, 1, 0x78, 16,   0,
		0,  0, 0x14, 0, 0,    0, 20, 0, 0, 0, 0, 0x13, 0x40, 0,
		0,  0, 0,    0, 0x40, 0, 0,  0, 0, 0, 0, 0,
	};
	const struct elf_maker_section section = { ".eh_frame", SHT_PROGBITS,
						   SHF_ALLOC,   V + 0x800,
						   frames,      sizeof(frames),
						   0,           0 };
	struct elf_maker m = { .is64 = true, .sections = &section, .nr_sections = 1 };
	struct fixture *f = *state;
	uint32_t prog = add_file(f, (struct image){ 0 }, "prog");
	enum naming_kind kind = NAMING_SYMBOL;
	const struct symbol *s;
	struct buf b = { 0 };

	elf_maker_write(&m, &b);
	put_file(f, "prog", b.data, b.len);
	buf_done(&b);
	start(f);
	s = naming_find(f->naming, prog, O + 0x310, &kind);
	assert_non_null(s);
	assert_string_equal(s->name, "0x401300");
	assert_int_equal(kind, NAMING_FUNCTION);
	assert_ptr_equal(naming_find(f->naming, prog, O + 0x33f, NULL), s);
	assert_null(naming_find(f->naming, prog, O + 0x340, NULL));
	assert_null(naming_find(f->naming, 77, O, NULL));
}

static void short_memory(void **state)
{
	struct fixture *f = *state;
	uint32_t file = add_file(f, (struct image){ .build_id = the_id() }, "good");

	put_elf(f, "good", "right", true);
	for (unsigned long n = 1;; n++) {
		bool failed;
		int r;

		alloc_fail_at(n);
		r = naming_new(&f->dict, &f->info, f->dir, &f->naming);
		if (!r)
			(void)naming_symtab(f->naming, file);
		failed = alloc_fail_off();
		if (!failed) {
			assert_int_equal(r, 0);
			assert_string_equal(name_at(f, file, O + KERNEL_OFFSET),
					    "right");
			break;
		}
		if (!r)
			naming_free(f->naming);
		f->naming = NULL;
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(kernel_and_modules),
		CASE(kernel_without_kallsyms),
		CASE(damaged_kallsyms),
		CASE(vmlinux),
		CASE(file_by_build_id),
		CASE(file_by_inode_and_age),
		CASE(copies_in_the_session),
		CASE(a_copy_of_one_file),
		CASE(an_untouched_file_goes_before_a_copy),
		CASE(files_that_are_no_files),
		CASE(other_kinds),
		CASE(separate_debug_file),
		CASE(below_a_root),
		CASE(in_the_image_path),
		CASE(warnings_of_files),
		CASE(vmlinux_given_to_the_report),
		CASE(module_in_the_image_path),
		CASE(debug_file_by_link),
		CASE(unnamed_code),
		CASE(short_memory),
	};

	return UNIT_RUN(cases);
}
