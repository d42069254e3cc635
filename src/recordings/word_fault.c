/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/word_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "format/foreign/foreign.h"
#include "import/foreign.h"

enum {
	MAGIC_BYTES = 8 /* enough to recognize a perf.data */
};

/* Returns whether the word looks like the name of a perf.data file. For a file that does not exist,
 * the name is the only hint. */
static bool is_named_like_one(const char *word)
{
	static const char suffix[] = ".data";
	size_t len = strlen(word);

	if (strpbrk(word, "*?["))
		return false;
	return strstr(word, "perf.data") ||
	       (len >= sizeof(suffix) &&
		!strcmp(word + len - (sizeof(suffix) - 1), suffix));
}

static bool word_fault_is_program(const char *magic, ssize_t len)
{
	return len >= 4 && !memcmp(magic, "\177ELF", 4);
}

static bool word_fault_say(struct err *err, const char *word, const char *fault)
{
	err_set(err, -EINVAL, "%s%s", word, fault);
	return true;
}

/* Explains why the content of a file cannot be used. */
static bool word_fault_content(const char *path, struct err *err)
{
	const struct foreign_format *f;

	if (import_recognise(path, &f) || !f)
		return word_fault_say(
			err, path,
			" is neither a perf.data file nor a profile of another tool");
	err_set(err, -EINVAL, "%s is %s%s%s", path, f->title, f->advice ? ": " : "",
		f->advice ? f->advice : "");
	return true;
}

static bool file_fault(const char *path, bool program_too, struct err *err)
{
	char magic[MAGIC_BYTES];
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	ssize_t len;

	if (fd < 0)
		return errno == EACCES &&
		       word_fault_say(err, path, " cannot be read: permission denied");
	len = io_pread_full(fd, magic, sizeof(magic), 0);
	close(fd);
	if (len < 0)
		return word_fault_say(err, path, " cannot be read");
	if (!len)
		return word_fault_say(err, path, " is empty");
	if (word_fault_is_program(magic, len))
		return program_too &&
		       word_fault_say(err, path, " is a program, not a recording");
	return len < MAGIC_BYTES
		       ? word_fault_say(err, path, " is too short to be a recording")
		       : word_fault_content(path, err);
}

bool word_fault(const char *word, bool program_too, struct err *err)
{
	struct stat st;

	if (stat(word, &st)) {
		if (!is_named_like_one(word))
			return false;
		return word_fault_say(err, word,
				      errno == EACCES ? ": Permission denied"
						      : ": No such file or directory");
	}
	if (S_ISDIR(st.st_mode))
		return word_fault_say(
			err, word, " contains neither a session nor a perf.data file");
	return S_ISREG(st.st_mode) ? file_fault(word, program_too, err)
				   : word_fault_say(err, word, " is not a recording");
}
