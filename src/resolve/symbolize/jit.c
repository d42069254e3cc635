/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.c - symbolizes code of JIT compilers. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/log.h"
#include "resolve/jit/dump.h"
#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"

static const uint64_t text_max = (uint64_t)1 << 32; /* limit of perf_map_read() */

void naming_jit_done(struct naming_jit *j)
{
	perf_map_done(&j->map);
	mapped_release(&j->text);
	free(j->path);
	*j = (struct naming_jit){ 0 };
}

struct jit_locations naming_jit_locations(const struct naming *n)
{
	const char *root = naming_locations_root(n->locations);

	return (struct jit_locations){
		.session_dir = n->jit_dir,
		.root = root,
		.here = !root[0] && n->is_local,
		.since_wall_ns = n->info->start_wall_ns,
		.until_wall_ns = n->until_wall_ns,
	};
}

static int map_text(int fd, struct mapped *text)
{
	struct stat st;
	uint64_t bytes;
	int r = fault_stat_fd(fd, &st);

	if (r)
		return r;
	bytes = io_solid_bytes(fd, (uint64_t)st.st_size);
	if (!bytes)
		return -ENODATA;
	return fault_unreadable_fd(
		fd, mapped_window(fd, 0, (size_t)(bytes < text_max ? bytes : text_max),
				  text));
}

static void naming_jit_report_damage(const struct naming_jit *j)
{
	if (j->map.nr_bad)
		log_say_once(
			LOG_WARNING,
			"'%s': %llu of %llu lines are not of the form START SIZE NAME",
			j->path, (unsigned long long)j->map.nr_bad,
			(unsigned long long)j->map.nr_lines);
}

/* Reads the map of a process once, because a process can have many images. Returns 0 or
 * -ENOMEM. */
static int read_map(struct naming *n, int32_t pid)
{
	const struct jit_locations locations = naming_jit_locations(n);
	struct naming_jit *j = &n->jit;
	int fd, r;

	if (j->pid == pid)
		return 0;
	naming_jit_done(j);
	j->pid = pid;
	j->status = NAMING_NONE_EXPECTED;
	r = jit_open_map(&locations, pid, &fd, &j->path);
	if (r)
		return r == -ENOMEM ? r : 0;
	r = map_text(fd, &j->text);
	close(fd);
	j->status = r ? NAMING_UNREADABLE : NAMING_NO_SYMBOLS;
	if (r)
		return r == -ENOMEM ? r : 0;
	r = perf_map_read(&j->map, (const char *)j->text.bytes, j->text.len);
	if (mapped_is_lost(&j->text))
		fault_unreadable(j->path, -EIO);
	else if (!r)
		naming_jit_report_damage(j);
	return r;
}

int naming_anon(struct naming *n, const struct image *image, struct naming_entry *e)
{
	/* Offsets in memory backed by a file are relative to the start of the file. */
	uint64_t first = image->start - image->ref_address;
	int r = image->pid ? read_map(n, image->pid) : 0;

	e->status = image->pid ? n->jit.status : NAMING_NONE_EXPECTED;
	if (r || e->status != NAMING_NO_SYMBOLS)
		return r;
	r = perf_map_symtab(&n->jit.map, image->start, image->end, first, &e->tab);
	naming_set_from(e, n->jit.path);
	if (!r)
		e->status = NAMING_OK;
	naming_tried(n, NAMING_STEP_JIT_MAP, n->jit.path, e->status);
	return r == -ENOMEM ? r : 0;
}

/* Opens the dump of an image. In a session, the name of the image is the path of its copy of the
 * dump. */
int naming_open_dump(const struct naming *n, const struct image *image, char **ret_path,
		     struct mapped *ret_bytes, struct jitdump *ret_dump)
{
	const char *name = dict_str(n->dict, image->name);
	const struct jit_locations locations = naming_jit_locations(n);
	int fd;
	int r = jit_open_dump(&locations, image->pid, name, image->inode, &fd,
			      ret_path);

	if (r)
		return r == -ENOMEM ? r : -ENOENT;
	r = jit_dump_map(fd, *ret_path, ret_bytes, ret_dump);
	close(fd);
	return r;
}

int naming_dump(struct naming *n, const struct image *image, struct naming_entry *e)
{
	struct mapped bytes = { 0 };
	struct jitdump dump;
	int r = naming_open_dump(n, image, &e->from, &bytes, &dump);

	e->status = r == -ENOENT ? NAMING_NO_FILE : NAMING_UNREADABLE;
	if (r)
		return r == -ENOMEM ? r : 0;
	r = jit_dump_symtab(&dump, &bytes, &e->tab);
	mapped_release(&bytes);
	jitdump_done(&dump);
	e->status = r ? NAMING_NO_SYMBOLS : NAMING_OK;
	naming_tried(n, NAMING_STEP_JIT_DUMP, e->from, e->status);
	return r == -ENOMEM ? r : 0;
}
