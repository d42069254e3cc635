#include "tools/places.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comma.h"
#include "base/err.h"
#include "base/vec.h"
#include "resolve/naming.h"
#include "tools/debug_dir.h"

static int check_folder(const char *path, const char *option, struct err *err)
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

static int split_folders(const char *list, struct folders *folders, struct err *err)
{
	while (list) {
		char *path = comma_next(&list);
		int r;

		if (!path || !vec_push(&folders->paths, path)) {
			free(path);
			return err_set(err, -ENOMEM, "out of memory");
		}
		r = check_folder(path, "--image-path", err);
		if (r)
			return r;
	}
	return vec_push(&folders->paths, NULL) ? 0
					       : err_set(err, -ENOMEM, "out of memory");
}

int places_make(const char *root, const char *image_path, const char *vmlinux,
		struct naming_places **ret_places, struct err *err)
{
	struct naming_options options = { .root = root, .vmlinux = vmlinux };
	struct folders folders = { 0 };
	char *cache;
	int r = root ? check_folder(root, "--root", err) : 0;

	if (!r && vmlinux && access(vmlinux, R_OK))
		r = err_sys(err, -errno, "--vmlinux: %s", vmlinux);
	if (!r)
		r = split_folders(image_path, &folders, err);
	options.image_path = (const char *const *)folders.paths.at;
	options.debug_dir = cache = debug_dir();
	if (!r && naming_places_new(&options, ret_places))
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < folders.paths.nr; i++)
		free(folders.paths.at[i]);
	vec_done(&folders.paths);
	free(cache);
	return r;
}
