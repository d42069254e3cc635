/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/binary.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "format/session/checksums.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/elf/unpacked.h"
#include "resolve/find/debug_cache.h"
#include "resolve/find/debug_link.h"
#include "resolve/find/file_index.h"
#include "resolve/find/live_files.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1
};

/* The kernel appends this to the path of a deleted file. */
static const char deleted_suffix[] = " (deleted)";

/* The steps of a search, as reported to a trace. */
static const char step_copy[] = NAMING_STEP_COPY;
static const char step_recorded[] = NAMING_STEP_RECORDED;
static const char step_index[] = NAMING_STEP_INDEX;
static const char step_cache[] = NAMING_STEP_CACHE;
static const char step_debug_id[] = NAMING_STEP_DEBUG_ID;
static const char step_debug_link[] = NAMING_STEP_DEBUG_LINK;
static const char step_kernel[] = NAMING_STEP_KERNEL;
static const char step_live[] = NAMING_STEP_LIVE;
static const char step_debuginfod[] = NAMING_STEP_DEBUGINFOD;

static bool binary_ends_with(const char *s, const char *end)
{
	size_t len = strlen(s);
	size_t end_len = strlen(end);

	return len >= end_len && strcmp(s + len - end_len, end) == 0;
}

static uint64_t binary_mtime_ns(const struct stat *st)
{
	return clock_ns(st->st_mtim);
}

/* Returns whether a recorded value differs; zero means "unknown". */
static bool differs(uint64_t recorded, uint64_t found)
{
	return recorded && recorded != found;
}

/* Verifies a file without a build-id. On overlay and btrfs, the kernel records another device
 * (and inode) than stat() returns. A difference there therefore does not reject a file with the
 * recorded mtime and size; it does if mtime is unknown. */
static enum naming_status verify_by_stat(const struct stat *st,
					 const struct image *image)
{
	bool same_place =
		!differs(image->dev, st->st_dev) && !differs(image->inode, st->st_ino);

	if (differs(image->mtime_ns, binary_mtime_ns(st)) ||
	    differs(image->file_bytes, (uint64_t)st->st_size))
		return NAMING_OTHER_FILE;
	if (!image->mtime_ns)
		return same_place ? NAMING_UNVERIFIED : NAMING_OTHER_FILE;
	if (same_place && image->dev && image->inode && image->file_bytes)
		return NAMING_OK;
	return NAMING_UNVERIFIED;
}

enum naming_status binary_verify(int fd, const struct image *image)
{
	struct build_id id;
	struct stat st;
	int r;

	if (!image->build_id.len) {
		if (fault_stat_fd(fd, &st))
			return NAMING_UNREADABLE;
		return verify_by_stat(&st, image);
	}
	r = elf_build_id_fd(fd, &id, NULL);
	if (r == 0)
		return build_id_equal(&id, &image->build_id) ? NAMING_OK
							     : NAMING_OTHER_FILE;
	return r == -ENODATA || r == -EBADMSG ? NAMING_OTHER_FILE : NAMING_UNREADABLE;
}

static void binary_report(const struct naming_trace *trace, const char *step,
			  const char *path, enum naming_status outcome)
{
	if (trace)
		trace->tried(trace->ctx, step, path, outcome);
}

/* Reports a permission error. elf_open_regular() and unpacked_open() report all other failures
 * to open a file. */
static int fault_if_refused(const char *path, int r)
{
	return r == -EACCES || r == -EPERM ? fault_unreadable(path, r) : r;
}

/* Opens `path` as the binary if the file passes the check. Consumes `path` (malloc'd; NULL
 * means out of memory). The session's own copy needs no check if there is no build-id: its name
 * identifies it. */
static int binary_try_file(char *path, const struct image *image, const char *step,
			   struct binary *b)
{
	bool own_copy = step == step_copy;
	enum naming_status status;
	int fd;

	if (!path)
		return -ENOMEM;
	fd = image->kind == IMAGE_MODULE ? unpacked_open(path) : elf_open_regular(path);
	if (fd == -EINVAL && own_copy)
		fault_unreadable(path, IO_NOT_REGULAR);
	if (fd < 0) {
		status = err_is_absent(fault_if_refused(path, fd)) ? NAMING_NO_FILE
								   : NAMING_UNREADABLE;
		if (!own_copy && status == NAMING_UNREADABLE)
			b->status = status;
		binary_report(b->trace, step, path, status);
		free(path);
		return 0;
	}
	if (own_copy && !checksums_usable(fd, path))
		status = NAMING_UNREADABLE;
	else
		status = own_copy && !image->build_id.len ? NAMING_OK
							  : binary_verify(fd, image);
	binary_report(b->trace, step, path, status);
	if (status != NAMING_OK && status != NAMING_UNVERIFIED) {
		if (!own_copy)
			b->status = status;
		close(fd);
		free(path);
		return 0;
	}
	b->fd = fd;
	b->path = path;
	b->status = status;
	return 0;
}

__attribute__((format(printf, 1, 2))) static char *format_path(const char *format, ...)
{
	char *path = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	return path;
}

/* Returns a hash that distinguishes files with the same build-id, and files that had the same
 * inode one after the other. */
static uint64_t binary_file_hash(const struct image *image)
{
	uint64_t inode = hash_pair(image->inode, image->inode_gen);

	return hash_pair(hash_pair(image->dev, inode),
			 hash_pair(image->mtime_ns, image->file_bytes));
}

char *binary_copy_path(const char *session_dir, const struct image *image,
		       enum binary_copy_of of)
{
	char hex[HEX_BYTES], file[24] = "";

	build_id_to_hex(&image->build_id, hex);
	if (image->kind == IMAGE_VDSO)
		return format_path("%s/vdso-%s", session_dir, hex);
	if (of == BINARY_COPY_OF_FILE)
		snprintf(file, sizeof(file), "-%016" PRIx64, binary_file_hash(image));
	if (image->build_id.len)
		return format_path("%s/images/%s%s", session_dir, hex, file);
	return format_path("%s/images/%llu-%llu%s", session_dir,
			   (unsigned long long)image->dev,
			   (unsigned long long)image->inode, file);
}

/* Searches the directory where distributions install separate debug information. */
static int find_by_build_id(const char *root, const struct image *image,
			    struct binary *b)
{
	struct build_id id;
	char hex[HEX_BYTES];
	char *path;
	int fd;

	if (image->build_id.len < 2)
		return 0;
	build_id_to_hex(&image->build_id, hex);
	path = format_path("%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex,
			   hex + 2);
	if (!path)
		return -ENOMEM;
	fd = fault_unreadable(path, elf_open_regular(path));
	if (fd >= 0 && elf_build_id_fd(fd, &id, NULL) == 0 &&
	    build_id_equal(&id, &image->build_id)) {
		b->debug_fd = fd;
		b->debug_path = path;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return 0;
}

/* Searches for the debug file that the binary names. `name` is its recorded path, which is also
 * used if the binary at b->fd is a copy. */
static int binary_find_by_link(const char *root, const char *name, struct binary *b)
{
	struct debug_link link;
	struct elf_file f;
	int r;

	if (name[0] != '/' || elf_file_init_fd(&f, b->fd, NULL))
		return 0;
	r = debug_link_read(&f, &link);
	elf_file_done(&f);
	if (!r)
		r = debug_link_find(&link, b->fd, root, name, &b->debug_fd,
				    &b->debug_path);
	return r == -ENOMEM ? r : 0;
}

/* Returns whether the file at a recorded path may be opened. A relative path is useless: it is
 * relative to the directory of another process. A file with the name of a deleted one can be the
 * recorded one only if it can be verified. */
static bool may_open(const struct image *image, const char *name)
{
	bool verifiable = image->build_id.len || image->inode;

	return image->kind == IMAGE_FILE && name[0] == '/' &&
	       (verifiable || !binary_ends_with(name, deleted_suffix));
}

/* Tries the files that the index has under a name; `get` is a lookup function of the index.
 * Without a build-id the name must be unique. */
static int try_index(const struct file_index *index, const char *name,
		     const char *(*get)(const struct file_index *, const char *,
					size_t),
		     const struct image *image, struct binary *b)
{
	const char *path;
	int r = 0;

	if (!image->build_id.len && get(index, name, 1)) {
		b->status = NAMING_AMBIGUOUS;
		return 0;
	}
	for (size_t n = 0; !r && b->fd < 0 && (path = get(index, name, n)); n++)
		r = binary_try_file(strdup(path), image, step_index, b);
	return r;
}

/* Opens the file from perf's cache. Returns 0 (also if the cache does not have the file) or
 * -ENOMEM. */
static int open_cached(const struct binary_locations *locations,
		       const struct image *image, const char *name,
		       enum debug_cache_part part, int *ret_fd, char **ret_path)
{
	int r;

	if (!locations->debug_dir || !locations->debug_dir[0] || !image->build_id.len)
		return 0;
	r = debug_cache_open(locations->debug_dir, &image->build_id, part, name, ret_fd,
			     ret_path);
	if (part != DEBUG_CACHE_DEBUG || !r)
		binary_report(locations->trace, step_cache,
			      r ? locations->debug_dir : *ret_path,
			      !r                 ? NAMING_OK
			      : err_is_absent(r) ? NAMING_NO_FILE
			      : r == -ESTALE     ? NAMING_OTHER_FILE
						 : NAMING_UNREADABLE);
	return r == -ENOMEM ? r : 0;
}

int binary_fetch(const struct binary_locations *locations, const struct build_id *id,
		 enum debuginfod_kind kind, int *ret_fd, char **ret_path)
{
	const struct debuginfod_want want = { .kind = kind, .id = *id };
	int r;

	if (!locations->debuginfod || !id->len)
		return -ENOENT;
	r = debuginfod_open(locations->debuginfod, &want, ret_fd, ret_path);
	if (r == -EAGAIN && locations->wants)
		return vec_push(locations->wants, want) ? -ENOENT : -ENOMEM;
	if (r == -EAGAIN && !locations->cached_only) {
		debuginfod_fetch(locations->debuginfod, &want, 1);
		r = debuginfod_open(locations->debuginfod, &want, ret_fd, ret_path);
	}
	if (r == -EAGAIN)
		r = -ENOENT;
	binary_report(locations->trace, step_debuginfod,
		      r ? debuginfod_kind_name(kind) : *ret_path,
		      r ? NAMING_NO_FILE : NAMING_OK);
	return r;
}

/* Returns whether the binary itself has the symbols, or the line numbers, that a debug file
 * would provide. */
static bool needs_no_debug_file(int fd, bool lines)
{
	struct elf_file f;
	bool has = false;

	if (elf_file_init_fd(&f, fd, NULL))
		return true;
	if (elf_file_sections(&f, NULL))
		has = false;
	else if (lines)
		has = elf_file_find_section(&f, ".debug_info") ||
		      elf_file_find_section(&f, ".zdebug_info");
	else
		has = elf_file_find_section(&f, ".symtab") ||
		      elf_file_find_section(&f, ".gnu_debugdata");
	elf_file_done(&f);
	return has;
}

static int fetch_debug_file(const struct binary_locations *locations,
			    const struct build_id *id, struct binary *b)
{
	int r;

	if (!locations->debuginfod || needs_no_debug_file(b->fd, locations->lines))
		return 0;
	r = binary_fetch(locations, id, DEBUGINFOD_DEBUGINFO, &b->debug_fd,
			 &b->debug_path);
	return r == -ENOMEM ? r : 0;
}

static int find_debug_file(const struct binary_locations *locations,
			   const struct image *image, const char *name,
			   struct binary *b)
{
	struct image known = *image;
	int r;

	/* Use the build-id of the file that was found if that is another file than the recorded
	 * one, or if the recording contains no build-id: perf records none for binaries that
	 * contain only callers of samples. */
	if (locations->stage == BINARY_CHANGED)
		known.build_id = (struct build_id){ 0 };
	if (!known.build_id.len)
		(void)elf_build_id_fd(b->fd, &known.build_id, NULL);
	r = open_cached(locations, &known, name, DEBUG_CACHE_DEBUG, &b->debug_fd,
			&b->debug_path);

	if (!r && b->debug_fd < 0) {
		r = find_by_build_id(locations->root, &known, b);
		if (b->debug_fd >= 0)
			binary_report(b->trace, step_debug_id, b->debug_path,
				      NAMING_OK);
	}
	if (!r && b->debug_fd < 0) {
		r = binary_find_by_link(locations->root, name, b);
		if (b->debug_fd >= 0)
			binary_report(b->trace, step_debug_link, b->debug_path,
				      NAMING_OK);
	}
	if (!r && b->debug_fd < 0) {
		binary_report(b->trace, step_debug_id, NULL, NAMING_NO_FILE);
		r = fetch_debug_file(locations, &known.build_id, b);
	}
	return r;
}

/* Searches perf's cache, which is indexed by build-id. */
static int try_cache(const struct binary_locations *locations,
		     const struct image *image, const char *name, struct binary *b)
{
	int r = open_cached(locations, image, name,
			    image->kind == IMAGE_VDSO ? DEBUG_CACHE_VDSO
						      : DEBUG_CACHE_ELF,
			    &b->fd, &b->path);

	if (b->fd >= 0)
		b->status = NAMING_OK;
	return r;
}

/* Returns whether the file is exactly the recorded one: same device, inode and (if its file system
 * supports it) generation. On another machine such a file is on a copy of the same disk. */
static bool is_very_file(const char *path, const struct image *image)
{
	int generation[2] = { 0 }; /* declared as long, but the kernel writes an int */
	struct stat st;
	bool is;
	int fd;

	if (!image->dev || !image->inode)
		return false;
	fd = elf_open_regular(path);
	if (fd < 0)
		return false;
	is = !fault_stat_fd(fd, &st) && st.st_dev == image->dev &&
	     st.st_ino == image->inode &&
	     (ioctl(fd, FS_IOC_GETVERSION, generation) ||
	      (uint32_t)generation[0] == (uint32_t)image->inode_gen);
	close(fd);
	return is;
}

/* Tries the recorded path. If the binary is from another machine and has no build-id, a file at
 * that path cannot be verified, except below a root that the user specified, which has that
 * machine's files. */
static int try_recorded(const struct binary_locations *locations,
			const struct image *image, const char *name, struct binary *b)
{
	if (!image->build_id.len && locations->foreign && !locations->root[0] &&
	    !(locations->host_unknown && is_very_file(name, image))) {
		b->status =
			locations->host_unknown ? NAMING_UNKNOWN_HOST : NAMING_FOREIGN;
		binary_report(b->trace, step_recorded, name, b->status);
		return 0;
	}
	if (locations->archive && !image->build_id.len) {
		/* Do not compare the inode, because copying changes it. */
		struct image copy = *image;

		copy.dev = 0;
		copy.inode = 0;
		return binary_try_file(format_path("%s%s", locations->root, name),
				       &copy, step_recorded, b);
	}
	return binary_try_file(format_path("%s%s", locations->root, name), image,
			       step_recorded, b);
}

/* Like try_recorded(), if the path can be used. If another file is at the path of a deleted file,
 * this does not mean that the binary was changed. */
static int try_path_of_image(const struct binary_locations *locations,
			     const struct image *image, const char *name,
			     struct binary *b)
{
	enum naming_status status = b->status;
	int r;

	if (!may_open(image, name))
		return 0;
	r = try_recorded(locations, image, name, b);
	if (b->status == NAMING_OTHER_FILE && binary_ends_with(name, deleted_suffix))
		b->status = status;
	return r;
}

static bool binary_is_binary(int fd, const struct image *image)
{
	enum naming_status status = binary_verify(fd, image);

	return status == NAMING_OK || status == NAMING_UNVERIFIED;
}

/* Tries the files of the recorded processes that still run. */
static int try_live(const struct binary_locations *locations, const struct image *image,
		    struct binary *b)
{
	int r;

	if (!locations->live || image->kind != IMAGE_FILE)
		return 0;
	r = live_files_open(locations->live, image, locations->number, binary_is_binary,
			    &b->fd, &b->path);
	if (!r)
		b->status = binary_verify(b->fd, image);
	binary_report(b->trace, step_live, r ? NULL : b->path,
		      r ? NAMING_NO_FILE : b->status);
	return r == -ENOMEM ? r : 0;
}

/* Returns whether the file at the path has the recorded mtime and size. It is then preferred to
 * the copy, which might be of another file with the same build-id. Any user can forge build-id,
 * mtime and size, so a file that belongs to another user must also have the recorded inode. If
 * the file was stripped or rebuilt in place, the copy is preferred, because it has the symbols. */
static bool is_untouched(const struct binary_locations *locations,
			 const struct image *image, const char *name)
{
	struct stat st;
	char *path;
	bool is;

	if (image->kind != IMAGE_FILE || !image->build_id.len || !image->mtime_ns ||
	    !image->file_bytes || !may_open(image, name))
		return false;
	path = format_path("%s%s", locations->root, name);
	is = path && !fault_stat(path, &st) &&
	     binary_mtime_ns(&st) == image->mtime_ns &&
	     (uint64_t)st.st_size == image->file_bytes &&
	     (trust_is_own(st.st_uid) || is_very_file(path, image));
	free(path);
	return is;
}

/* Tries the session's copies of files that were deleted or replaced: first the copy of the file
 * with the same identity, then that of any file with the build-id. */
static int try_copy(const struct binary_locations *locations, const struct image *image,
		    struct binary *b)
{
	int r = 0;

	if (!locations->session_dir[0] ||
	    (!image->build_id.len && (image->kind != IMAGE_FILE || !image->inode)))
		return 0;
	if (image->kind == IMAGE_FILE && image->mtime_ns)
		r = binary_try_file(binary_copy_path(locations->session_dir, image,
						     BINARY_COPY_OF_FILE),
				    image, step_copy, b);
	if (!r && b->fd < 0)
		r = binary_try_file(binary_copy_path(locations->session_dir, image,
						     BINARY_COPY_SHARED),
				    image, step_copy, b);
	return r;
}

/* Searches the recorded path and the caches of copies. */
static int binary_find_known(const struct binary_locations *locations,
			     const struct image *image, const char *name,
			     struct binary *b)
{
	bool path_first = is_untouched(locations, image, name);
	int r = 0;

	if (path_first)
		r = try_recorded(locations, image, name, b);
	if (!r && b->fd < 0)
		r = try_copy(locations, image, b);
	if (!r && b->fd < 0 && !path_first)
		r = try_path_of_image(locations, image, name, b);
	if (!r && b->fd < 0)
		r = try_cache(locations, image, name, b);
	if (!r && b->fd < 0)
		r = try_live(locations, image, b);
	return r;
}

/* Opens the file at the recorded path without any check; the user has explicitly allowed that. */
static int find_changed(const struct binary_locations *locations,
			const struct image *image, const char *name, struct binary *b)
{
	char *path;
	int fd;

	if (!may_open(image, name))
		return 0;
	path = format_path("%s%s", locations->root, name);
	if (!path)
		return -ENOMEM;
	fd = elf_open_regular(path);
	if (fd < 0) {
		free(path);
		return 0;
	}
	binary_report(b->trace, step_recorded, path, NAMING_OTHER_FILE);
	b->fd = fd;
	b->path = path;
	b->status = NAMING_OTHER_FILE;
	return 0;
}

/* Runs the search of a stage. */
static int find_in_stage(const struct binary_locations *locations,
			 const struct image *image, const char *name, struct binary *b)
{
	int r;

	switch (locations->stage) {
	case BINARY_INDEX:
		return may_open(image, name)
			       ? try_index(locations->index, strrchr(name, '/') + 1,
					   file_index_get, image, b)
			       : 0;
	case BINARY_FETCH:
		r = binary_fetch(locations, &image->build_id, DEBUGINFOD_EXECUTABLE,
				 &b->fd, &b->path);
		if (!r)
			b->status = NAMING_OK;
		return r == -ENOMEM ? r : 0;
	case BINARY_CHANGED:
		return find_changed(locations, image, name, b);
	case BINARY_HERE:
	case BINARY_STAGES:
	default:
		return binary_find_known(locations, image, name, b);
	}
}

static int find_binary(const struct binary_locations *locations,
		       const struct image *image, const char *name, struct binary *b)
{
	int r = find_in_stage(locations, image, name, b);

	if (!r && b->fd >= 0 && image->kind == IMAGE_FILE)
		r = find_debug_file(locations, image, name, b);
	return r;
}

int binary_find(const struct binary_locations *locations, const struct image *image,
		const char *name, struct binary *ret_binary)
{
	struct binary b = { .fd = -1,
			    .debug_fd = -1,
			    .status = NAMING_NO_FILE,
			    .trace = locations->trace };
	int r = find_binary(locations, image, name, &b);

	if (r) {
		binary_close(&b);
		return r;
	}
	*ret_binary = b;
	return 0;
}

/* Fetches a module's file. Some servers have only the content of debug packages, so if the module
 * is not found, its debug file is fetched. */
static int fetch_module(const struct binary_locations *locations,
			const struct image *image, const char *module, struct binary *b)
{
	int r = find_in_stage(locations, image, module, b);

	if (!r && b->fd < 0)
		r = binary_fetch(locations, &image->build_id, DEBUGINFOD_DEBUGINFO,
				 &b->fd, &b->path);
	if (!r && b->fd >= 0)
		b->status = NAMING_OK;
	return r == -ENOMEM ? r : 0;
}

static int find_installed_module(const struct binary_locations *locations,
				 const struct image *image, const char *module,
				 struct binary *b)
{
	bool plausible =
		image->build_id.len || !locations->foreign || locations->root[0];
	int r = try_cache(locations, image, NULL, b);

	/* OProfile names a module by a path, and its users make that path a link to the module's
	 * file. */
	if (!r && b->fd < 0 && plausible)
		r = binary_try_file(format_path("%s/%s", locations->root, module),
				    image, step_recorded, b);
	/* On the recording machine, a module installed for the same kernel release is a good
	 * guess even without a build-id. */
	if (!r && b->fd < 0 && locations->modules && plausible)
		r = try_index(locations->modules, module, file_index_module, image, b);
	if (!r && b->fd < 0) {
		r = find_by_build_id(locations->root, image, b);
		b->fd = b->debug_fd;
		b->path = b->debug_path;
		b->debug_fd = -1;
		b->debug_path = NULL;
		if (b->fd >= 0)
			b->status = NAMING_OK;
	}
	return r;
}

int binary_find_module(const struct binary_locations *locations, const char *module,
		       const struct build_id *id, struct binary *ret_binary)
{
	struct binary b = { .fd = -1,
			    .debug_fd = -1,
			    .status = NAMING_NO_FILE,
			    .trace = locations->trace };
	const struct image image = { .kind = IMAGE_MODULE, .build_id = *id };
	int r = 0;

	if (locations->stage == BINARY_INDEX)
		r = try_index(locations->index, module, file_index_module, &image, &b);
	else if (locations->stage == BINARY_FETCH)
		r = fetch_module(locations, &image, module, &b);
	else
		r = find_installed_module(locations, &image, module, &b);
	if (r) {
		binary_close(&b);
		return r;
	}
	*ret_binary = b;
	return 0;
}

int binary_find_vmlinux(const struct binary_locations *locations,
			const struct build_id *id, const char *release,
			size_t *location, int *ret_fd, char **ret_path)
{
	static const char *const around[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/boot/vmlinux-", "" },
	};
	const struct image image = { .kind = IMAGE_KERNEL, .build_id = *id };
	struct binary b = { .fd = -1, .debug_fd = -1, .trace = locations->trace };
	size_t i = *location;
	int r = 0;

	if (!id->len)
		return -ENOENT;
	if (i == 0) {
		i++;
		r = find_by_build_id(locations->root, &image, &b);
		binary_report(b.trace, step_debug_id, b.debug_path,
			      b.debug_fd >= 0 ? NAMING_OK : NAMING_NO_FILE);
		b.fd = b.debug_fd;
		b.path = b.debug_path;
	}
	for (; !r && b.fd < 0 && i <= COUNT_OF(around); i++)
		if (release[0] && !strchr(release, '/'))
			r = binary_try_file(format_path("%s%s%s%s", locations->root,
							around[i - 1][0], release,
							around[i - 1][1]),
					    &image, step_kernel, &b);
	*location = i;
	if (r || b.fd < 0)
		return r ? r : -ENOENT;
	*ret_fd = b.fd;
	*ret_path = b.path;
	return 0;
}

void binary_close(struct binary *b)
{
	if (b->fd >= 0)
		close(b->fd);
	if (b->debug_fd >= 0)
		close(b->debug_fd);
	free(b->path);
	free(b->debug_path);
	*b = (struct binary){ .fd = -1, .debug_fd = -1 };
}
