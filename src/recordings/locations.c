/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/locations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comma.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "format/archive/layout.h"
#include "recordings/debug_dir.h"
#include "recordings/debuginfod_env.h"
#include "resolve/find/index_cache.h"
#include "resolve/symbolize/naming.h"

static int locations_check_folder(const char *path, const char *option, struct err *err)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	return err_set(err, -ENOTDIR,
		       "%s isn't a valid directory (invalid %s= options)", path,
		       option);
}

struct folders {
	VEC(char *) paths;
};

static int locations_add_folder(struct folders *folders, char *path, struct err *err)
{
	if (path && vec_push(&folders->paths, path))
		return 0;
	free(path);
	return err_set(err, -ENOMEM, "out of memory");
}

static char *locations_path_in(const char *archive, const char *name)
{
	char *path;

	if (!archive)
		return strdup(name);
	return asprintf(&path, "%s/%s", archive, name) < 0 ? NULL : path;
}

static int split_folders(const char *list, const char *archive, struct folders *folders,
			 struct err *err)
{
	while (list) {
		char *path = comma_next(&list);
		char *folder = path ? locations_path_in(archive, path) : NULL;
		int r = folder ? locations_check_folder(folder, "--image-path", err)
			       : 0;

		free(path);
		if (r)
			free(folder);
		else
			r = locations_add_folder(folders, folder, err);
		if (r)
			return r;
	}
	return 0;
}

/* Files that an archive stores in addition to those at their original paths (docs/archive.md). */
struct archived {
	char *cache;
	char *modules;
	char *vmlinux;
};

static int use_archive(const char *dir, struct archived *a, struct folders *folders,
		       struct naming_options *options, struct err *err)
{
	struct stat st;

	a->cache = locations_path_in(dir, ARCHIVE_CACHE);
	a->modules = locations_path_in(dir, ARCHIVE_MODULES);
	a->vmlinux = locations_path_in(dir, ARCHIVE_VMLINUX);
	if (!a->cache || !a->modules || !a->vmlinux)
		return err_set(err, -ENOMEM, "out of memory");
	if (options->root)
		return err_set(
			err, -EINVAL,
			"--root cannot be combined with archive:, which sets the root");
	options->archive = true;
	options->root = dir;
	options->debug_dir = a->cache;
	if (!options->vmlinux && !access(a->vmlinux, R_OK))
		options->vmlinux = a->vmlinux;
	if (stat(a->modules, &st) || !S_ISDIR(st.st_mode))
		return 0;
	return locations_add_folder(folders, strdup(a->modules), err);
}

static int locations_check_file(const char *path, const char *option, struct err *err)
{
	return path && access(path, R_OK) ? err_sys(err, -errno, "%s: %s", option, path)
					  : 0;
}

static int locations_check(const struct location_options *from, struct err *err)
{
	int r = from->root ? locations_check_folder(from->root, "--root", err) : 0;

	if (!r)
		r = locations_check_file(from->vmlinux, "--vmlinux", err);
	if (!r)
		r = locations_check_file(from->guest_kallsyms, "--guestkallsyms", err);
	return r ? r : locations_check_file(from->guest_vmlinux, "--guestvmlinux", err);
}

static int gather(const struct location_options *from, struct archived *a,
		  struct folders *folders, struct naming_options *options,
		  struct err *err)
{
	int r = locations_check(from, err);

	if (!r)
		r = split_folders(from->image_path, from->archive, folders, err);
	if (!r && from->archive)
		r = use_archive(from->archive, a, folders, options, err);
	else if (!r)
		options->debug_dir = a->cache = debug_dir();
	if (!r && !vec_push(&folders->paths, NULL))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

int locations_make(const struct location_options *from,
		   struct naming_locations **ret_locations, struct err *err)
{
	struct naming_options options = { .root = from->root,
					  .vmlinux = from->vmlinux,
					  .guest_kallsyms = from->guest_kallsyms,
					  .guest_vmlinux = from->guest_vmlinux,
					  .accept_changed = from->accept_changed,
					  .trace = from->trace };
	struct folders folders = { 0 };
	struct archived a = { 0 };
	struct debuginfod_env env = { 0 };
	char *cache_dir;
	int r = gather(from, &a, &folders, &options, err);

	if (!r)
		r = debuginfod_env_read(from->debuginfod_timeout, &env, err);
	if (r > 0) {
		options.debuginfod = &env.options;
		r = 0;
	}
	options.image_path = (const char *const *)folders.paths.at;
	cache_dir = from->no_cache ? NULL : index_cache_dir();
	options.cache_dir = cache_dir;
	if (!r && naming_locations_new(&options, ret_locations))
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < folders.paths.nr; i++)
		free(folders.paths.at[i]);
	vec_done(&folders.paths);
	debuginfod_env_done(&env);
	free(a.cache);
	free(a.modules);
	free(a.vmlinux);
	free(cache_dir);
	return r;
}
