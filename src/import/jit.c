/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/jit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/io.h"
#include "base/log.h"
#include "decode/record.h"
#include "format/session/checksums.h"
#include "record/keep/copy_list.h"
#include "record/keep/jit_store.h"
#include "resolve/symbolize/naming.h"

enum {
	NAME_BYTES = 64,
	PATH_BYTES = 4096 + 2 * NAME_BYTES
};

int import_jit_init(struct import_jit *j, const struct import_jit_source *from,
		    const struct dict *dict, struct naming_locations *locations)
{
	int r;

	*j = (struct import_jit){ .dir = from->dir, .info = from->info };
	r = naming_new(dict, from->info, NULL, &j->naming);
	if (r)
		return r;
	naming_use(j->naming, locations);
	naming_recorded_in(j->naming, from->path);
	j->locations = naming_jit_locations(j->naming);
	return 0;
}

void import_jit_done(struct import_jit *j)
{
	naming_free(j->naming);
}

/* Copies and closes the file.  Logs a warning and returns false if it could not be copied. */
static bool import_jit_copy(struct import_jit *j, int fd, int32_t pid, const char *name)
{
	struct stat st;
	int r = fstat(fd, &st) ? -errno : 0;

	if (!r && st.st_uid != geteuid())
		j->bytes_of_others += (uint64_t)st.st_size;
	if (!r && j->bytes_of_others > COPY_LIST_OF_USER_MAX) {
		close(fd);
		log_say(LOG_WARNING,
			"%s of process %d could not be saved: the copied files of other users are limited to %llu MB",
			name, pid, COPY_LIST_OF_USER_MAX >> 20);
		return false;
	}
	if (!r)
		r = jit_store_copy(fd, j->dir, pid, name);

	close(fd);
	if (r)
		log_say(LOG_WARNING, "%s of process %d could not be saved: %s", name,
			pid, strerror(-r));
	return !r;
}

/* Stores the time of the mapping in the clock of the samples. Readers compute from it how the
 * clock of the dump relates to that clock. */
static void import_jit_note_time(const struct import_jit *j, int32_t pid,
				 const char *name, uint64_t time_ns)
{
	char path[PATH_BYTES], text[NAME_BYTES];
	int len = snprintf(text, sizeof(text), "%" PRIu64 "\n", time_ns);

	snprintf(path, sizeof(path), "%s/jit/%d/%s.mapped", j->dir, pid, name);
	(void)checksums_write_file(path, text, (size_t)len, RECORDING_FILE_MODE);
}

void import_jit_mapped(void *ctx, const struct record_mmap *m, uint64_t time_ns)
{
	struct import_jit *j = ctx;
	const char *name = jit_dump_name(m->path);
	char *found;
	int fd;

	if (!name || strlen(name) >= NAME_BYTES ||
	    jit_open_dump(&j->locations, m->pid, m->path, m->ino, &fd, &found))
		return;
	free(found);
	if (import_jit_copy(j, fd, m->pid, name) && time_ns &&
	    j->info->clock_id != CLOCK_MONOTONIC)
		import_jit_note_time(j, m->pid, name, time_ns);
}

void import_jit_maps(struct import_jit *j, const struct dict *dict)
{
	int32_t last = 0;

	for (size_t i = 0; i < dict->images.nr; i++) {
		const struct image *image = &dict->images.at[i];
		char name[NAME_BYTES];
		char *found;
		int fd;

		if (image->kind != IMAGE_ANON || image->pid <= 0 ||
		    image->pid == last ||
		    jit_open_map(&j->locations, image->pid, &fd, &found))
			continue;
		last = image->pid;
		free(found);
		snprintf(name, sizeof(name), "perf-%d.map", image->pid);
		(void)import_jit_copy(j, fd, image->pid, name);
	}
}
