/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/code/source_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/public_file.h"
#include "record/keep/copy_rule.h"
#include "recordings/code/image_code.h"
#include "recordings/source_find.h"
#include "resolve/code/code.h"

enum {
	/* A file counts as text if its first PROBE bytes contain no NUL, as in diff and git. */
	PROBE = 8192
};

/* Returns NULL if the open file is a text, or the reason why it is not. */
static const char *source_file_check_text(int fd)
{
	char bytes[PROBE];
	ssize_t len = io_pread_full(fd, bytes, sizeof(bytes), 0);

	if (len < 0)
		return strerror(-fault_unreadable_fd(fd, (int)len));
	return memchr(bytes, 0, (size_t)len) ? "it is not a text file" : NULL;
}

/* Opens a stream for a source. Takes ownership of the descriptor. Returns NULL, or the reason why
 * the file cannot be shown. */
static const char *source_file_take_text(struct source_file *s, int fd)
{
	const char *why = NULL;

	if (fd < 0)
		return fd == IO_NOT_REGULAR ? "it is not a regular file"
					    : strerror(-fd);
	if (fstat(fd, &s->st) || !S_ISREG(s->st.st_mode))
		why = "it is not a regular file";
	else if ((why = source_file_check_text(fd)))
		;
	else if (!(s->text = fdopen(fd, "r")))
		why = strerror(errno);
	if (why)
		close(fd);
	return why;
}

/* Extracts a source embedded in the debug information into a file in memory. */
static int open_embedded(const struct source_locations *p, const char *full,
			 const struct profile_image *image, int *ret_fd)
{
	struct buf text = { 0 };
	struct code *code = NULL;
	int fd = -1;
	int r = -ENOENT;

	if (p->code && image && image->binary)
		code = image_code_of(p->code,
				     (uint32_t)(image - p->code->profile->images.at));
	if (code)
		r = code_embedded(code, full, &text);
	if (!r)
		fd = memfd_create("source", MFD_CLOEXEC);
	if (!r &&
	    (fd < 0 || io_write_all(fd, text.data, text.len) || lseek(fd, 0, SEEK_SET)))
		r = -ENOENT;
	buf_done(&text);
	if (r && fd >= 0)
		close(fd);
	*ret_fd = r ? -1 : fd;
	return r;
}

/* Returns the path of the file with the image's code, or NULL. */
static const char *source_file_binary_of(const struct source_locations *p,
					 const struct profile_image *image)
{
	const char *path =
		image && p->code ? strtab_get(&p->code->profile->strings, image->binary)
				 : "";

	return path[0] ? path : NULL;
}

/* Opens the source that source_find() provides or, if the output is for other users,
 * source_find_open(). Returns a descriptor or a negative errno; s->file is NULL if no file was
 * found. */
static int open_found(const struct source_locations *p, const char *full,
		      const struct profile_image *image, struct source_file *s)
{
	bool here = !image || !image->foreign;

	if (p->handed_on)
		return source_find_open(p->find, full, here,
					source_file_binary_of(p, image), &s->file);
	s->file = source_find(p->find, full, here);
	return s->file ? io_open_regular(s->file, 0) : -ENOENT;
}

/* Finds and opens the source for a full path. Sets s->text, or *ret_why to the reason why it
 * cannot be shown. Returns 0 or -ENOMEM. */
static int source_file_find_text(const struct source_locations *p, const char *full,
				 const struct profile_image *image,
				 struct source_file *s, const char **ret_why)
{
	bool foreign = image && image->foreign;
	int fd = -1;
	int r;

	*ret_why = NULL;
	fd = open_found(p, full, image, s);
	if (fd == -EACCES && p->handed_on) {
		*ret_why = "left out: not every user can read it; "
			   "give its directory to --search-dirs to include it";
		return 0;
	}
	if (s->file) {
		*ret_why = source_file_take_text(s, fd);
		s->is_private = s->text && !public_file(fileno(s->text), s->file);
		return 0;
	}
	r = image ? naming_locations_source(p->locations, &image->build_id, full, &fd,
					    &s->file)
		  : -ENOENT;
	if (r == -ENOENT) {
		const char *binary = source_file_binary_of(p, image);

		r = open_embedded(p, full, image, &fd);
		s->is_private = !r && binary && copy_rule_is_private(binary);
	}
	if (!r) {
		s->fetched = true;
		*ret_why = source_file_take_text(s, fd);
	} else {
		*ret_why =
			foreign ? "it was recorded on another machine; give directories of this machine with --search-dirs"
				: "No such file or directory";
	}
	return r == -ENOMEM ? r : 0;
}

int source_file_open(const struct source_locations *locations, const char *path,
		     const struct profile_image *image, struct source_file *ret_source)
{
	struct source_file *s = ret_source;
	char *full = path_full(path, "");
	const char *why;
	int r = 0;

	*s = (struct source_file){ 0 };
	if (!full)
		return -ENOMEM;
	/* Names such as "<artificial>" and "<built-in>" come from the compiler. */
	if (strchr(path, '<'))
		why = "the compiler generated it";
	else if (!strncmp(full, "/proc/", 6) || !strncmp(full, "/sys/", 5))
		why = "it is part of the kernel, not a file";
	else
		r = source_file_find_text(locations, full, image, s, &why);
	free(full);
	if (!r)
		snprintf(s->why, sizeof(s->why), "%s", why ? why : "");
	return r;
}

void source_file_close(struct source_file *s)
{
	if (s->text)
		fclose(s->text);
	free(s->file);
	*s = (struct source_file){ 0 };
}
