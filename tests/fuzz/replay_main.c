/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay_main.c - runs a fuzz target over the files of its corpus, as an ordinary test.
 * Arguments: files or directories. Output: TAP, one line per file. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/files/io.h"

enum {
	INPUT_MAX = 64 * 1024 * 1024
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int nr_run;
static unsigned int nr_failed;

static void replay_file(const char *path)
{
	struct buf in = { 0 };
	uint8_t *exact = NULL;
	int r = io_read_file(path, &in, INPUT_MAX);

	/* A copy of exactly that size, so that a read beyond its end is detected. */
	if (!r) {
		exact = malloc(in.len ? in.len : 1);
		if (!exact)
			r = -1;
	}
	if (!r) {
		if (in.len)
			memcpy(exact, in.data, in.len);
		LLVMFuzzerTestOneInput(exact, in.len);
	}
	nr_run++;
	nr_failed += r != 0;
	printf("%sok %u - %s\n", r ? "not " : "", nr_run, path);
	fflush(stdout);
	free(exact);
	buf_done(&in);
}

static int keep_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_path(const char *path)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, keep_visible, alphasort);

	if (nr < 0) {
		replay_file(path);
		return;
	}
	for (int i = 0; i < nr; i++) {
		char *inner;

		if (asprintf(&inner, "%s/%s", path, entries[i]->d_name) >= 0) {
			replay_file(inner);
			free(inner);
		}
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	/* The empty input is in every corpus. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	nr_run++;
	printf("ok %u - (empty)\n", nr_run);
	for (int i = 1; i < argc; i++)
		replay_path(argv[i]);
	printf("1..%u\n", nr_run);
	return nr_failed ? 1 : 0;
}
