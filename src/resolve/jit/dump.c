/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/jit/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/log.h"

static const uint64_t bytes_max = (uint64_t)1 << 32;

static void jit_dump_report_damage(const struct jitdump *d, const char *path)
{
	if (d->nr_bad)
		log_say_once(LOG_WARNING, "'%s': %llu records are malformed", path,
			     (unsigned long long)d->nr_bad);
	if (d->cut_bytes)
		log_say(LOG_DEBUG, "'%s': the last %llu bytes are an incomplete record",
			path, (unsigned long long)d->cut_bytes);
}

int jit_dump_try(int fd, struct mapped *ret_bytes, struct jitdump *ret_dump,
		 struct err *err)
{
	struct stat st;
	uint64_t bytes;
	int r = fault_stat_fd(fd, &st);

	if (r)
		return r;
	bytes = io_solid_bytes(fd, (uint64_t)st.st_size);
	if (!bytes)
		return -ENODATA;
	r = mapped_window(fd, 0, (size_t)(bytes < bytes_max ? bytes : bytes_max),
			  ret_bytes);
	if (r)
		return r;
	r = jitdump_read(ret_dump, ret_bytes->bytes, ret_bytes->len, err);
	if (r) {
		if (mapped_is_lost(ret_bytes))
			r = -EIO;
		jitdump_done(ret_dump);
		mapped_release(ret_bytes);
	}
	return r;
}

int jit_dump_map(int fd, const char *path, struct mapped *ret_bytes,
		 struct jitdump *ret_dump)
{
	struct err err = { 0 };
	int r = jit_dump_try(fd, ret_bytes, ret_dump, &err);

	if (r == -EBADMSG)
		log_say_once(LOG_WARNING, "%s: %s", path, err.text);
	else if (r)
		return r == -ENOMEM || r == -ENODATA ? r : fault_unreadable(path, r);
	if (r)
		return r;
	if (mapped_is_lost(ret_bytes))
		fault_unreadable(path, -EIO);
	jit_dump_report_damage(ret_dump, path);
	return 0;
}

static int jit_dump_put_names(const struct jitdump *d, const uint8_t *bytes,
			      struct symtab_given *given, struct buf *names)
{
	size_t at = 0;

	for (size_t i = 0; i < d->codes.nr; i++) {
		buf_put(names, bytes + d->codes.at[i].name, d->codes.at[i].name_len);
		buf_put(names, "", 1);
	}
	if (names->failed)
		return -ENOMEM;
	for (size_t i = 0; i < d->codes.nr; i++) {
		const struct jitdump_code *code = &d->codes.at[i];

		given[i] = (struct symtab_given){
			.offset = code->offset,
			.size = code->size,
			.vaddr = code->address,
			.name = (const char *)names->data + at,
		};
		at += code->name_len + 1;
	}
	return 0;
}

int jit_dump_symtab(const struct jitdump *dump, const struct mapped *bytes,
		    struct symtab **ret_tab)
{
	struct symtab_given *given;
	struct buf names = { 0 };
	int r;

	if (!dump->codes.nr)
		return -ENODATA;
	given = calloc(dump->codes.nr, sizeof(*given));
	if (!given)
		return -ENOMEM;
	r = jit_dump_put_names(dump, bytes->bytes, given, &names);
	if (!r)
		r = symtab_of_given(given, dump->codes.nr, 0, ret_tab);
	buf_done(&names);
	free(given);
	return r;
}
