/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/word_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"

enum {
	MAGIC_BYTES = 8 /* enough to recognize a perf.data */
};

/* For a file that does not exist, the name is the only hint. */
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

/* Returns the text to append to the file name in a message, or NULL. */
static const char *file_fault(const char *path, bool program_too)
{
	char magic[MAGIC_BYTES];
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	ssize_t len;

	if (fd < 0)
		return errno == EACCES ? " may not be read" : NULL;
	len = io_pread_full(fd, magic, sizeof(magic), 0);
	close(fd);
	if (len < 0)
		return " cannot be read";
	if (!len)
		return " is empty";
	if (word_fault_is_program(magic, len))
		return program_too ? " is a program, and no recording" : NULL;
	return len < MAGIC_BYTES ? " is too short for a recording"
				 : " is neither a perf.data nor another tool's profile";
}

const char *word_fault(const char *word, bool program_too)
{
	struct stat st;

	if (stat(word, &st)) {
		if (!is_named_like_one(word))
			return NULL;
		return errno == EACCES ? ": Permission denied"
				       : ": No such file or directory";
	}
	if (S_ISDIR(st.st_mode))
		return " holds neither a session nor a perf.data";
	return S_ISREG(st.st_mode) ? file_fault(word, program_too)
				   : " is not a recording";
}
