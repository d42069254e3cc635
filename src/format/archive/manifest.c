/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/archive/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"

static const char first_line[] = "oparchive 1";
static const char last_line[] = "end";

static bool has_control_character(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

bool archive_name_ok(const char *name)
{
	const char *at = name;

	if (strlen(name) > ARCHIVE_NAME_MAX || has_control_character(name))
		return false;
	for (;;) {
		size_t len = strcspn(at, "/");

		if (!len || len > 255 || (len == 1 && at[0] == '.') ||
		    (len == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (!at[len])
			return true;
		at += len + 1;
	}
}

int archive_manifest_file(struct archive_manifest *m, const struct archive_file *file)
{
	struct archive_file copy = *file;
	char *name = strdup(file->name);

	copy.name = name;
	if (name && vec_push(&m->files, copy))
		return 0;
	free(name);
	return -ENOMEM;
}

static void archive_manifest_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

int archive_manifest_image(struct archive_manifest *m, const char *build_id, bool found,
			   const char *name)
{
	if (has_control_character(name))
		return 0;
	archive_manifest_put_text(&m->images, "image ");
	archive_manifest_put_text(&m->images, build_id[0] ? build_id : "-");
	archive_manifest_put_text(&m->images, found ? " found " : " missing ");
	archive_manifest_put_text(&m->images, name);
	archive_manifest_put_text(&m->images, "\n");
	return m->images.failed ? -ENOMEM : 0;
}

int archive_manifest_parts(struct archive_manifest *m, const char *name)
{
	archive_manifest_put_text(&m->images, "parts ");
	archive_manifest_put_text(&m->images, name);
	archive_manifest_put_text(&m->images, "\n");
	return m->images.failed ? -ENOMEM : 0;
}

int archive_manifest_source(struct archive_manifest *m, bool found, const char *name)
{
	if (has_control_character(name))
		return 0;
	archive_manifest_put_text(&m->images,
				  found ? "source found " : "source missing ");
	archive_manifest_put_text(&m->images, name);
	archive_manifest_put_text(&m->images, "\n");
	return m->images.failed ? -ENOMEM : 0;
}

void archive_manifest_put(const struct archive_manifest *m, struct buf *out)
{
	archive_manifest_put_text(out, first_line);
	archive_manifest_put_text(out, "\n");
	for (size_t i = 0; i < m->files.nr; i++) {
		const struct archive_file *f = &m->files.at[i];

		archive_manifest_put_text(out, "file ");
		buf_put_hex(out, f->hash, 16);
		archive_manifest_put_text(out, " ");
		buf_put_decimal(out, f->bytes);
		archive_manifest_put_text(out, " ");
		buf_put_decimal(out, f->mtime_ns);
		archive_manifest_put_text(out, " ");
		archive_manifest_put_text(out, f->name);
		archive_manifest_put_text(out, "\n");
	}
	buf_put(out, m->images.data, m->images.len);
	archive_manifest_put_text(out, last_line);
	archive_manifest_put_text(out, "\n");
}

/* Removes the first word from a row and returns it. Returns NULL if no word follows it. */
static char *archive_manifest_next_word(char **row)
{
	char *word = *row;
	char *blank = strchr(word, ' ');

	if (!blank)
		return NULL;
	*blank = '\0';
	*row = blank + 1;
	return word;
}

static int archive_manifest_parse_file(struct archive_manifest *m, char *row)
{
	struct archive_file file = { 0 };
	const char *hash = archive_manifest_next_word(&row);
	const char *bytes = hash ? archive_manifest_next_word(&row) : NULL;
	const char *mtime = bytes ? archive_manifest_next_word(&row) : NULL;

	if (!mtime || !parse_hex_at(&hash, &file.hash) || *hash ||
	    !parse_u64(bytes, &file.bytes) || !parse_u64(mtime, &file.mtime_ns) ||
	    !archive_name_ok(row) || m->files.nr >= ARCHIVE_FILES_MAX)
		return -EBADMSG;
	file.name = row;
	return archive_manifest_file(m, &file);
}

/* Parses a row. Returns 0, 1 if the row is "end", or a negative errno. */
static int parse_row(struct archive_manifest *m, size_t number, char *row)
{
	static const char file[] = "file ";

	if (!number)
		return strcmp(row, first_line) ? -EBADMSG : 0;
	if (!strcmp(row, last_line))
		return 1;
	return strncmp(row, file, sizeof(file) - 1)
		       ? 0
		       : archive_manifest_parse_file(m, row + sizeof(file) - 1);
}

int archive_manifest_parse(const char *text, size_t len, struct archive_manifest *ret_m,
			   struct err *err)
{
	size_t number = 0;
	char *copy;
	int r = 0;

	*ret_m = (struct archive_manifest){ 0 };
	copy = memchr(text, '\0', len) ? NULL : strndup(text, len);
	if (!copy)
		return err_set(err, -EBADMSG, "the manifest is not text");
	for (char *row = copy, *end; !r && (end = strchr(row, '\n')); row = end + 1) {
		*end = '\0';
		r = parse_row(ret_m, number++, row);
	}
	free(copy);
	if (r == 1)
		return 0;
	if (r == -ENOMEM)
		return err_set(err, r, "out of memory");
	return err_set(
		err, -EBADMSG,
		r && number > 1 ? "manifest line %zu is malformed"
		: number
			? "unsupported manifest version, or manifest truncated after line %zu"
			: "the manifest is empty",
		number);
}

void archive_manifest_done(struct archive_manifest *m)
{
	for (size_t i = 0; i < m->files.nr; i++)
		free(m->files.at[i].name);
	vec_done(&m->files);
	buf_done(&m->images);
}
