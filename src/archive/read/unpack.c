/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/read/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/scratch.h"
#include "base/log.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "format/archive/tar.h"
#include "format/perfdata/input.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/debug_cache_store.h"

enum {
	CHUNK_BYTES = 1 << 16,
	MEMBERS_MAX = 1 << 20,
	HEX_DIGITS_MIN = 16, /* a shorter word is a name, not a build-id */
	/* Limits for unpacking a tar, as for our own archives (open.c). */
	RATIO_MAX = 100,
	FREE_BYTES = 256 << 20
};

struct unpack {
	const struct archive_unpack_request *request;
	const char *path;
	uint64_t max_bytes;
	/* Temporary directory in the file system of perf's cache. */
	struct scratch *for_cache;
	/* Next to the destination of the perf.data; NULL: no perf.data found yet. */
	struct scratch *for_data;
	char *data_path;
	struct archive_unpacked done;
	uint8_t chunk[CHUNK_BYTES];
};

/* A file of perf's cache, identified by its name. */
struct cached {
	struct build_id id;
	enum debug_cache_part part;
	bool old_layout; /* the older layout, whose names end with the build-id */
	char *name;      /* for debug_cache_add(); malloc'd */
};

static bool parse_part(const char *file, enum debug_cache_part *ret_part)
{
	for (int i = 0; i < DEBUG_CACHE_PARTS; i++)
		if (!strcmp(file, debug_cache_part_file((enum debug_cache_part)i))) {
			*ret_part = (enum debug_cache_part)i;
			return true;
		}
	return false;
}

static bool is_hex_word(const char *word)
{
	return strspn(word, "0123456789abcdef") == strlen(word) &&
	       strlen(word) >= HEX_DIGITS_MIN;
}

/* Parses NAME/BUILDID/PART, or the older NAME/BUILDID. Returns 0, 1 for any other name, or a
 * negative errno. */
static int archive_unpack_parse_name(const char *name, struct cached *ret_cached)
{
	struct cached c = { .part = DEBUG_CACHE_ELF };
	const char *file = path_base(name);
	char *rest = strndup(name, (size_t)(file > name ? file - name - 1 : 0));
	bool good;

	if (!rest)
		return -ENOMEM;
	if (is_hex_word(file)) {
		c.old_layout = true;
		good = build_id_parse(file, &c.id);
	} else {
		const char *hex = path_base(rest);

		good = parse_part(file, &c.part) && is_hex_word(hex) &&
		       build_id_parse(hex, &c.id);
		rest[hex > rest ? hex - rest - 1 : 0] = '\0';
	}
	if (!good || !rest[0]) {
		free(rest);
		return 1;
	}
	if (asprintf(&c.name, "%s%s", rest[0] == '[' ? "" : "/", rest) < 0)
		c.name = NULL;
	free(rest);
	*ret_cached = c;
	return c.name ? 0 : -ENOMEM;
}

/* ---- content ---- */

static int save_member(struct unpack *u, struct tar_reader *tar, const char *path,
		       struct err *err)
{
	int fd = io_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	ssize_t n = 0;
	int r = fd < 0 ? fd : 0;

	while (!r && (n = tar_reader_get(tar, u->chunk, sizeof(u->chunk), err)) > 0)
		r = io_write_holes(fd, u->chunk, (size_t)n);
	if (!r && n >= 0)
		r = io_end_holes(fd);
	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	if (r)
		return err_sys(err, r, "cannot write '%s'", path);
	return (int)n;
}

static int archive_unpack_refuse(struct unpack *u, const char *name, const char *why)
{
	log_say(LOG_WARNING, "'%s': skipping the member '%s': it %s", u->path, name,
		why);
	u->done.nr_refused++;
	return 0;
}

static bool archive_unpack_is_perf_data(const char *path)
{
	char magic[8] = { 0 };
	int fd = io_open_regular(path, 0);
	ssize_t n;

	if (fd < 0)
		return false;
	n = io_pread_full(fd, magic, sizeof(magic), 0);
	close(fd);
	return n > 0 && perf_input_is_magic(magic, (size_t)n);
}

/* Returns whether the file has the complete header and data of a recording. The magic alone is not
 * enough, because any text can begin with it. */
static bool has_whole_header(const char *path)
{
	struct perf_input *in;
	int fd = io_open_regular(path, 0);
	bool is_whole;

	if (fd < 0 || perf_input_open_fd(fd, path, &in, NULL))
		return false;
	is_whole = perf_input_is_complete(in);
	perf_input_close(in);
	return is_whole;
}

/* Returns whether perf gives recordings such names.  Shells, build tools and interpreters run files
 * under other names, and read "-x" as an option. */
static bool is_name_of_recording(const char *name)
{
	const char *end = strrchr(name, '.');

	if (name[0] == '.' || name[0] == '-')
		return false;
	if (!strcmp(name, "data") || (end && !strcmp(end, ".data")))
		return true;
	/* Names of perf's older files, and of files of --switch-output. */
	return end && !fnmatch("perf*.data.?*", name, 0) &&
	       (!strcmp(end, ".old") ||
		strspn(end + 1, "0123456789") == strlen(end + 1));
}

/* ---- into the cache ---- */

static int add_cached(struct unpack *u, struct cached *c, const char *file,
		      const char *member, struct err *err)
{
	struct build_id id;
	bool kallsyms;
	int r = elf_build_id(file, &id, NULL);

	/* Accept kallsyms without a check, because they contain no build-id. */
	kallsyms = c->name[0] == '[' && r == -EBADMSG &&
		   (c->old_layout || c->part == DEBUG_CACHE_KALLSYMS);
	if (kallsyms)
		c->part = DEBUG_CACHE_KALLSYMS;
	else if (r || c->part == DEBUG_CACHE_KALLSYMS)
		return archive_unpack_refuse(
			u, member, "is not the binary that its name describes");
	else if (!build_id_equal(&id, &c->id))
		return archive_unpack_refuse(
			u, member, "has a build-id that differs from its name");
	if (c->old_layout && !strcmp(c->name, "[vdso]"))
		c->part = DEBUG_CACHE_VDSO;
	r = debug_cache_add(u->request->cache, &c->id, c->part, c->name, file);
	if (r)
		return err_sys(err, r, "cannot write into '%s'", u->request->cache);
	u->done.nr_files++;
	return 0;
}

static int take_cached(struct unpack *u, struct tar_reader *tar, struct cached *c,
		       const char *member, struct err *err)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/file", scratch_folder(u->for_cache)) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = save_member(u, tar, path, err);
	if (!r)
		r = add_cached(u, c, path, member, err);
	(void)io_unlink(path);
	free(path);
	return r;
}

/* ---- the recording ---- */

/* Checks the unpacked perf.data and its name. The user chose a name given with --output, but the
 * name of the member is untrusted. */
static int check_data(const struct unpack *u, const char *member, struct err *err)
{
	const char *why = NULL;

	if (u->request->perf_data)
		return 0;
	if (!is_name_of_recording(member))
		why = "does not have the name of a recording";
	else if (!has_whole_header(u->data_path))
		why = "is not a complete perf.data file";
	return why ? err_set(err, -EINVAL,
			     "cannot unpack '%s': its member '%.100s' %s: give the file name of the recording with --output",
			     u->path, member, why)
		   : 0;
}

static int take_data(struct unpack *u, struct tar_reader *tar, const char *member,
		     struct err *err)
{
	const char *to =
		u->request->perf_data ? u->request->perf_data : path_base(member);
	char *path;
	int r;

	if (u->for_data)
		return archive_unpack_refuse(u, member, "is a second recording");
	if (!access(to, F_OK))
		return err_set(
			err, -EEXIST,
			"'%s' already exists: give another destination with --output",
			to);
	r = scratch_new_next_to(to, &u->for_data, err);
	if (r)
		return r;
	if (asprintf(&path, "%s/file", scratch_folder(u->for_data)) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = save_member(u, tar, path, err);
	if (!r && !archive_unpack_is_perf_data(path)) {
		scratch_free(u->for_data);
		u->for_data = NULL;
		free(path);
		return archive_unpack_refuse(u, member, "is not a perf.data file");
	}
	u->data_path = path;
	if (!r)
		r = check_data(u, member, err);
	if (r)
		return r;
	u->done.perf_data = strdup(to);
	return u->done.perf_data ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* Moves the perf.data to its destination, after all of the tar was read. Uses link(2), which never
 * overwrites a file, unlike rename(2). */
static int place_data(struct unpack *u, struct err *err)
{
	int r = 0;

	if (!u->for_data || !(r = io_link(u->data_path, u->done.perf_data)))
		return 0;
	if (r == -EPERM || r == -EOPNOTSUPP) /* a file system without hard links */
		r = io_rename_new(u->data_path, u->done.perf_data);
	return !r ? 0 : err_sys(err, r, "cannot write '%s'", u->done.perf_data);
}

/* ---- the tar ---- */

static ssize_t read_member(void *ctx, void *bytes, size_t len)
{
	return tar_reader_get(ctx, bytes, len, NULL);
}

static bool is_symbols_tar(const char *name)
{
	static const char start[] = "perf.symbols.tar";

	return !strncmp(path_base(name), start, sizeof(start) - 1);
}

/* Reads the tar of `perf archive --all`, which contains the files of the cache in an inner tar. */
static int archive_unpack_take_all(struct unpack *u, struct tar_source source,
				   bool inner, struct err *err);

/* Returns whether reports do not use the file: perf's cache also contains lists of probes, and
 * kcore. */
static bool is_unused_by_reports(const char *name)
{
	static const char kcore[] = "[kernel.kcore]/";

	return !strcmp(path_base(name), "probes") ||
	       !strncmp(name, kcore, sizeof(kcore) - 1);
}

static int archive_unpack_take_file(struct unpack *u, struct tar_reader *tar,
				    const char *name, bool inner, struct err *err)
{
	struct cached c;
	int r;

	if (!inner && is_symbols_tar(name))
		return archive_unpack_take_all(
			u, (struct tar_source){ read_member, tar }, true, err);
	r = archive_unpack_parse_name(name, &c);
	if (r < 0)
		return err_set(err, r, "out of memory");
	if (!r) {
		r = take_cached(u, tar, &c, name, err);
		free(c.name);
		return r;
	}
	if (!inner && !strchr(name, '/'))
		return take_data(u, tar, name, err);
	if (!is_unused_by_reports(name))
		return archive_unpack_refuse(
			u, name, "is neither a recording nor a file of perf's cache");
	log_say(LOG_DEBUG, "'%s': skipping the member '%s', which reports do not use",
		u->path, name);
	return 0;
}

static int take_member(struct unpack *u, struct tar_reader *tar,
		       const struct tar_member *m, bool inner, struct err *err)
{
	static const char links[] = ".build-id/";
	char *name;
	int r;

	/* Skip links, which debug_cache_add() creates again, and small files that are copies of
	 * links. */
	if (m->kind == TAR_FOLDER || !strncmp(m->name, links, sizeof(links) - 1))
		return 0;
	if (m->kind == TAR_LINK)
		return archive_unpack_refuse(
			u, archive_name_ok(m->name) ? m->name : "a link", "is a link");
	if (m->kind != TAR_FILE)
		return archive_unpack_refuse(u, "a device", "is not a file");
	if (!archive_name_ok(m->name))
		return archive_unpack_refuse(
			u, "a file", "has a name that leads out of the directory");
	if (!strcmp(m->name, ARCHIVE_MANIFEST_NAME))
		return err_set(
			err, -EINVAL,
			"oprofile reads its own archives without unpacking: opreport archive:%s",
			u->path);
	name = strdup(m->name); /* borrowed from the reader until the next call */
	r = name ? archive_unpack_take_file(u, tar, name, inner, err)
		 : err_set(err, -ENOMEM, "out of memory");
	free(name);
	return r;
}

static int archive_unpack_take_all(struct unpack *u, struct tar_source source,
				   bool inner, struct err *err)
{
	struct tar_reader *tar;
	struct tar_member m;
	size_t nr = 0;
	int r;

	if (tar_reader_new(source, u->max_bytes, &tar))
		return err_set(err, -ENOMEM, "out of memory");
	while (!(r = tar_reader_next(tar, &m, err))) {
		r = nr++ < MEMBERS_MAX ? take_member(u, tar, &m, inner, err)
				       : err_set(err, -EFBIG,
						 "the archive contains too many files");
		if (r)
			break;
	}
	if (r > 0 && tar_reader_end(tar, NULL))
		archive_unpack_refuse(u, inner ? "the inner tar" : "the tar",
				      "is followed by other data");
	tar_reader_free(tar);
	return r < 0 ? r : 0;
}

/* ---- finding the tar ---- */

/* Finds the only matching file. If no file or several match, returns an error with a message that
 * gives their number. */
static int find_tar(char **ret_path, struct err *err)
{
	static const char patterns[] = "perf*.tar.{bz2,zst}";
	glob_t found = { 0 };
	int r = 0;

	(void)glob(patterns, GLOB_BRACE, NULL, &found);
	if (found.gl_pathc == 1)
		*ret_path = strdup(found.gl_pathv[0]);
	else
		r = err_set(
			err, -ENOENT,
			"the current directory contains %zu files %s: give the name of the file to unpack",
			(size_t)found.gl_pathc, patterns);
	globfree(&found);
	if (!r && !*ret_path)
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

static int unpack_fd(struct unpack *u, int fd, struct err *err)
{
	struct stat st;
	char *file;
	int r;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", u->path);
	u->max_bytes = FREE_BYTES + (uint64_t)st.st_size * RATIO_MAX;
	r = io_make_dirs(u->request->cache, 0755);
	if (r)
		return err_sys(err, r, "cannot create the directory '%s'",
			       u->request->cache);
	if (asprintf(&file, "%s/.unpack", u->request->cache) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = scratch_new_next_to(file, &u->for_cache, err);
	free(file);
	if (r)
		return r;
	r = archive_unpack_take_all(u, (struct tar_source){ tar_source_fd, &fd }, false,
				    err);
	if (r)
		return r == -EEXIST || r == -EINVAL ? r
						    : err_prefix(err, "%s", u->path);
	return place_data(u, err);
}

static int archive_unpack_one(struct unpack *u, struct err *err)
{
	int fd = io_open(u->path, O_RDONLY | O_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", u->path);
	r = trust_check(fd, u->request->trust, u->path, err);
	if (!r)
		r = unpack_fd(u, fd, err);
	close(fd);
	return r;
}

int archive_unpack(const struct archive_unpack_request *request,
		   struct archive_unpacked *ret_unpacked, struct err *err)
{
	struct unpack *u = calloc(1, sizeof(*u));
	char *found = NULL;
	int r;

	if (!u)
		return err_set(err, -ENOMEM, "out of memory");
	u->request = request;
	r = request->path ? 0 : find_tar(&found, err);
	if (!r) {
		u->path = found ? found : request->path;
		r = archive_unpack_one(u, err);
	}
	scratch_free(u->for_cache);
	scratch_free(u->for_data);
	free(u->data_path);
	if (r)
		free(u->done.perf_data);
	else
		*ret_unpacked = u->done;
	free(u);
	free(found);
	return r;
}
