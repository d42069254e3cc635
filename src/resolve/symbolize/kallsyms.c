/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kallsyms.c - symbolizes with the session's copy of kallsyms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "format/session/checksums.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/elf/unpacked.h"
#include "resolve/find/debug_cache.h"
#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"

enum {
	KALLSYMS_MAX_BYTES = 256 << 20, /* decompressed; a large kernel has 15 MB */
	NOTES_MAX_BYTES = 1 << 20
};

static const char running_kallsyms[] = "/proc/kallsyms";

const struct image *naming_kernel_image(const struct naming *n)
{
	const struct image *best = NULL;

	for (size_t i = 0; i < n->dict->images.nr; i++) {
		const struct image *image = &n->dict->images.at[i];

		if (image->kind == IMAGE_KERNEL &&
		    (!best || image->ref_address > best->ref_address))
			best = image;
	}
	return best;
}

const struct build_id *naming_kernel_id(const struct naming *n,
					const struct image *image)
{
	return image && image->build_id.len ? &image->build_id
					    : &n->info->kernel_build_id;
}

void naming_kallsyms_done(struct naming_kallsyms *k)
{
	kallsyms_index_done(&k->index);
	buf_done(&k->text);
	free(k->path);
	*k = (struct naming_kallsyms){ 0 };
}

/* Checks a text that was read with the result `r`. Returns 0, -ENOMEM, or -ENODATA if it could not
 * be read or has no addresses. */
static int naming_kallsyms_check_text(int r, const struct buf *text)
{
	if (r == -ENOMEM)
		return r;
	return r || !kallsyms_has_addresses((const char *)text->data, text->len)
		       ? -ENODATA
		       : 0;
}

/* Reads the text of a file. Returns -ENODATA if that fails or it has no addresses. */
static int naming_kallsyms_read_text(const char *path, struct buf *out)
{
	int fd = elf_open_regular(path);
	int r;

	if (fd < 0)
		return -ENODATA;
	r = io_read_fd(fd, out, KALLSYMS_MAX_BYTES);
	close(fd);
	if (r != -EFBIG)
		fault_unreadable(path, r);
	return naming_kallsyms_check_text(r, out);
}

/* Like naming_kallsyms_read_text(), for the compressed file of a session. Does not use a truncated
 * text: the last symbol before the truncation would also get the samples of the missing ones. */
static int read_packed(const char *path, struct buf *out)
{
	struct buf bytes = { 0 };
	int r = checksums_read_file(path, &bytes, UNPACKED_PACKED_MAX);

	if (!r) {
		r = unpacked_zstd(&bytes, KALLSYMS_MAX_BYTES, out);
		if (r && r != -ENOMEM)
			fault_damaged(path, "it cannot be decompressed");
	}
	buf_done(&bytes);
	return naming_kallsyms_check_text(r, out);
}

/* Reads the text at `path` and builds the index. Consumes `path`. If that fails, returns
 * -ENODATA or -ENOMEM, and `k` is zeroed. */
static int naming_kallsyms_take_text(struct naming_kallsyms *k, char *path)
{
	int r = path ? naming_kallsyms_read_text(path, &k->text) : -ENOMEM;

	k->path = path;
	if (!r)
		r = kallsyms_index(&k->index, (const char *)k->text.data, k->text.len);
	if (r)
		naming_kallsyms_done(k);
	return r;
}

/* Appends the symbols of modules that were loaded during the recording. */
static int add_late_modules(const char *session_dir, struct buf *text)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/modules.kallsyms", session_dir) < 0)
		return -ENOMEM;
	r = checksums_read_file(path, text, KALLSYMS_MAX_BYTES);
	free(path);
	return r == -ENOMEM ? r : 0;
}

static int from_session(struct naming *n, struct naming_kallsyms *k)
{
	char *path;
	int r;

	if (!n->session_dir[0])
		return -ENODATA;
	if (asprintf(&path, "%s/kallsyms.zst", n->session_dir) < 0)
		return -ENOMEM;
	r = read_packed(path, &k->text);
	k->path = path;
	if (!r)
		r = add_late_modules(n->session_dir, &k->text);
	if (!r)
		r = kallsyms_index(&k->index, (const char *)k->text.data, k->text.len);
	if (r)
		naming_kallsyms_done(k);
	if (!r)
		k->same_boot = k->for_modules = true;
	return r;
}

/* Computes how far the kernel was relocated, compared with this text. Returns false if that is
 * unknown. */
static bool naming_kallsyms_find_shift(const struct naming *n,
				       const struct image *kernel,
				       struct naming_kallsyms *k)
{
	static const char *const begins[] = { "_text", "_stext" };
	const char *text = (const char *)k->text.data;
	uint64_t there;

	if (!kernel) {
		k->for_modules = true; /* their addresses are checked one by one */
		return true;
	}
	if (kernel->ref_address &&
	    kallsyms_find(text, k->text.len, dict_str(n->dict, kernel->ref_name),
			  &there)) {
		k->shift = kernel->ref_address - there;
		k->for_modules = !k->shift;
		return true;
	}
	for (size_t i = 0; i < COUNT_OF(begins); i++) {
		if (kernel->start &&
		    kallsyms_find(text, k->text.len, begins[i], &there) &&
		    there == kernel->start) {
			k->for_modules = true;
			return true;
		}
	}
	return false;
}

/* Uses the text at `path` if it is valid and the relocation is known. Consumes `path`. Returns
 * 0, -ENODATA or -ENOMEM. */
static int take_placed_text(const struct naming *n, const struct image *kernel,
			    char *path, struct naming_kallsyms *k)
{
	int r = naming_kallsyms_take_text(k, path);

	if (r || naming_kallsyms_find_shift(n, kernel, k))
		return r;
	naming_kallsyms_done(k);
	return -ENODATA;
}

/* Uses a text of perf's cache: that of the recorded boot if there is one, else the first one. */
static int from_cache(struct naming *n, const struct image *kernel,
		      struct naming_kallsyms *k)
{
	debug_cache_paths paths;
	int r = debug_cache_kallsyms(naming_locations_debug_dir(n->locations),
				     naming_kernel_id(n, kernel), &paths);

	if (r)
		return r;
	for (size_t i = 0; r != -ENOMEM && i < paths.nr; i++) {
		struct naming_kallsyms one = { 0 };

		r = take_placed_text(n, kernel, strdup(paths.at[i]), &one);
		if (!r && (!k->path || !one.shift)) {
			naming_kallsyms_done(k);
			*k = one;
		} else if (!r) {
			naming_kallsyms_done(&one);
		}
		if (!r && !k->shift)
			break;
	}
	debug_cache_paths_done(&paths);
	if (r == -ENOMEM) {
		naming_kallsyms_done(k);
		return r;
	}
	return k->path ? 0 : -ENODATA;
}

static bool read_running_id(struct build_id *ret_id)
{
	struct buf notes = { 0 };
	bool known = !io_read_file("/sys/kernel/notes", &notes, NOTES_MAX_BYTES) &&
		     !notes_build_id(notes.data, notes.len, ret_id);

	buf_done(&notes);
	return known;
}

/* Returns whether `_etext` in these kallsyms equals the recorded end of the kernel. */
static bool has_its_end(const struct image *kernel, const struct naming_kallsyms *k)
{
	uint64_t end;

	return kernel &&
	       kallsyms_find((const char *)k->text.data, k->text.len, "_etext", &end) &&
	       end == kernel->end;
}

/* Uses this machine's own kallsyms if the running kernel is the recorded one: by build-id, or
 * if that is unknown, by the machine, the kernel's release and its address. If the recording
 * names no machine, the address and the size must match. */
static int from_here(struct naming *n, const struct image *kernel,
		     struct naming_kallsyms *k)
{
	const struct build_id *ran = naming_kernel_id(n, kernel);
	struct build_id here = { 0 };
	int r;

	if (naming_locations_archive(n->locations))
		return -ENODATA;
	if (ran->len ? !read_running_id(&here) || !build_id_equal(&here, ran)
		     : !n->is_local && !n->host_unknown)
		return -ENODATA;
	r = take_placed_text(n, kernel, strdup(running_kallsyms), k);
	if (!r && !ran->len &&
	    (k->shift || (!n->is_local && !has_its_end(kernel, k)))) {
		naming_kallsyms_done(k); /* might be another kernel */
		r = -ENODATA;
	}
	if (r)
		return r;
	k->for_modules &= n->is_local || n->host_unknown;
	k->status = ran->len ? NAMING_OK : NAMING_UNVERIFIED;
	return 0;
}

bool naming_runs_here(struct naming *n)
{
	const struct build_id *ran = naming_kernel_id(n, naming_kernel_image(n));
	struct build_id here = { 0 };

	if (naming_locations_archive(n->locations))
		return false;
	if (ran->len)
		return read_running_id(&here) && build_id_equal(&here, ran);
	return !naming_kallsyms_read(n) && n->kallsyms.path &&
	       !strcmp(n->kallsyms.path, running_kallsyms);
}

int naming_kallsyms_read(struct naming *n)
{
	const struct image *kernel = naming_kernel_image(n);
	struct naming_kallsyms k = { 0 };
	int r;

	if (n->kallsyms.read)
		return 0;
	r = from_session(n, &k);
	if (r == -ENODATA && n->session_dir[0])
		naming_tried(n, "the session's kallsyms", NULL, NAMING_NO_KALLSYMS);
	if (r == -ENODATA) {
		r = from_cache(n, kernel, &k);
		if (r == -ENODATA)
			naming_tried(n, "kallsyms in perf's cache", NULL,
				     NAMING_NO_KALLSYMS);
	}
	if (r == -ENODATA) {
		r = from_here(n, kernel, &k);
		if (r == -ENODATA)
			naming_tried(n, "this machine's kallsyms", running_kallsyms,
				     NAMING_OTHER_FILE);
	}
	if (r && r != -ENODATA)
		return r;
	n->kallsyms = k;
	n->kallsyms.index.text = (const char *)k.text.data;
	n->kallsyms.read = true;
	return 0;
}
