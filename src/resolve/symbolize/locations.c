/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbolize/locations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/files/faults.h"
#include "base/log.h"
#include "resolve/find/debuginfod.h"
#include "resolve/find/file_index.h"

struct naming_locations {
	char *root;
	char *vmlinux;
	char *guest_kallsyms;
	char *guest_vmlinux;
	char *debug_dir;
	char *cache_dir;
	const struct naming_trace *trace;
	struct debuginfod *debuginfod;
	bool archive;
	bool accept_changed;
	VEC(char *) folders; /* NULL-terminated */
	bool indexed;
	struct file_index *index;
	struct map warned; /* hashes of names */
	bool explained;    /* printed what a different file can mean */
};

static int copy_folders(struct naming_locations *p, const char *const *folders)
{
	for (; folders && *folders; folders++) {
		char *copy = strdup(*folders);

		if (!copy || !vec_push(&p->folders, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
	return vec_push(&p->folders, NULL) ? 0 : -ENOMEM;
}

/* Copies a root without trailing slashes ("/" becomes ""): recorded paths begin with a slash. */
static char *copy_root(const char *root)
{
	size_t len = root ? strlen(root) : 0;

	while (len && root[len - 1] == '/')
		len--;
	return len ? strndup(root, len) : strdup("");
}

int naming_locations_new(const struct naming_options *options,
			 struct naming_locations **ret_locations)
{
	struct naming_locations *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->root = copy_root(options->root);
	p->vmlinux = strdup(options->vmlinux ? options->vmlinux : "");
	p->guest_kallsyms =
		strdup(options->guest_kallsyms ? options->guest_kallsyms : "");
	p->guest_vmlinux = strdup(options->guest_vmlinux ? options->guest_vmlinux : "");
	p->debug_dir = strdup(options->debug_dir ? options->debug_dir : "");
	p->cache_dir = strdup(options->cache_dir ? options->cache_dir : "");
	p->trace = options->trace;
	p->archive = options->archive;
	p->accept_changed = options->accept_changed;
	if (!p->root || !p->vmlinux || !p->debug_dir || !p->cache_dir ||
	    !p->guest_kallsyms || !p->guest_vmlinux ||
	    copy_folders(p, options->image_path) ||
	    (options->debuginfod && !options->archive &&
	     debuginfod_new(options->debuginfod, &p->debuginfod))) {
		naming_locations_free(p);
		return -ENOMEM;
	}
	*ret_locations = p;
	return 0;
}

void naming_locations_free(struct naming_locations *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->folders.nr; i++)
		free(p->folders.at[i]);
	vec_done(&p->folders);
	file_index_free(p->index);
	debuginfod_free(p->debuginfod);
	map_done(&p->warned);
	free(p->root);
	free(p->vmlinux);
	free(p->guest_kallsyms);
	free(p->guest_vmlinux);
	free(p->debug_dir);
	free(p->cache_dir);
	free(p);
}

const char *naming_locations_root(const struct naming_locations *p)
{
	return p ? p->root : "";
}

bool naming_locations_accept_changed(const struct naming_locations *p)
{
	return p && p->accept_changed;
}

const char *naming_locations_vmlinux(const struct naming_locations *p)
{
	return p ? p->vmlinux : "";
}

const char *naming_locations_guest_kallsyms(const struct naming_locations *p)
{
	return p ? p->guest_kallsyms : "";
}

const char *naming_locations_guest_vmlinux(const struct naming_locations *p)
{
	return p ? p->guest_vmlinux : "";
}

const char *naming_locations_cache_dir(const struct naming_locations *p)
{
	return p ? p->cache_dir : "";
}

const char *naming_locations_debug_dir(const struct naming_locations *p)
{
	return p ? p->debug_dir : "";
}

bool naming_locations_archive(const struct naming_locations *p)
{
	return p && p->archive;
}

bool naming_locations_has_servers(const struct naming_locations *p)
{
	return naming_locations_debuginfod(p) != NULL;
}

struct debuginfod *naming_locations_debuginfod(const struct naming_locations *p)
{
	return p ? p->debuginfod : NULL;
}

int naming_locations_source(struct naming_locations *p, const struct build_id *id,
			    const char *path, int *ret_fd, char **ret_path)
{
	const struct debuginfod_want want = { DEBUGINFOD_SOURCE, *id, path };
	int r;

	if (!p || !p->debuginfod || !id->len)
		return -ENOENT;
	r = debuginfod_open(p->debuginfod, &want, ret_fd, ret_path);
	if (r != -EAGAIN)
		return r;
	debuginfod_fetch(p->debuginfod, &want, 1);
	r = debuginfod_open(p->debuginfod, &want, ret_fd, ret_path);
	return r == -EAGAIN ? -ENOENT : r;
}

const struct naming_trace *naming_locations_trace(const struct naming_locations *p)
{
	return p ? p->trace : NULL;
}

const struct file_index *naming_locations_index(struct naming_locations *p)
{
	if (!p || p->folders.nr <= 1)
		return NULL;
	if (!p->indexed) {
		p->indexed = true;
		(void)file_index_new((const char *const *)p->folders.at, &p->index);
	}
	return p->index;
}

/* Returns whether no warning was printed for this name yet. */
static bool naming_locations_is_news(struct naming_locations *p, const char *name)
{
	struct map_slot *slot;
	bool is_new;

	if (!p)
		return true;
	slot = map_at(&p->warned, hash_bytes(name, strlen(name), 0), 0, &is_new);
	if (!slot)
		return true;
	slot->value_plus_1 = 1;
	return is_new;
}

static void warn_of_difference(struct naming_locations *p, const char *name,
			       bool by_age)
{
	log_say(LOG_WARNING,
		"the %s of the binary file does not match that of the sample file for %s",
		by_age ? "last modified time" : "build-id", name);
	if (p && p->explained)
		return;
	if (p)
		p->explained = true;
	log_say(LOG_WARNING,
		"Either this is the wrong binary or the binary has been modified since the sample file was created.");
	log_say(LOG_NOTE,
		p && p->accept_changed
			? "its symbols are used because of --accept-changed, and may be wrong"
			: "its symbols are not used; to use them, give --accept-changed");
}

/* Returns whether the reason why the file cannot be read was reported. */
static bool is_reported(const struct naming_locations *p, const char *name)
{
	char *path;
	bool is;

	if (fault_is_reported(name))
		return true;
	if (asprintf(&path, "%s%s", naming_locations_root(p), name) < 0)
		return false;
	is = fault_is_reported(path);
	free(path);
	return is;
}

void naming_locations_warn(struct naming_locations *p, const char *name,
			   enum naming_status status, bool by_age)
{
	static const char *const texts[NAMING_STATUS_COUNT][2] = {
		[NAMING_NO_FILE] = { "", " could not be found." },
		[NAMING_UNREADABLE] = { "",
					" could not be read, or is not in a usable binary format." },
		[NAMING_AMBIGUOUS] = { "",
				       " matches more than one file: detailed profile will not be provided." },
		[NAMING_FOREIGN] = { "",
				     " was recorded on another machine without a build-id, so no local file can be matched to it." },
		[NAMING_UNKNOWN_HOST] = { "it is not known on which machine ",
					  " was recorded, and it has no build-id, so no local file can be matched to it." },
		[NAMING_UNVERIFIED] = { "could not check that the binary file ",
					" has not been modified since the profile was taken. "
					"Results may be inaccurate." },
	};

	if ((status != NAMING_OTHER_FILE && !texts[status][0]) ||
	    (status == NAMING_UNREADABLE && is_reported(p, name)) ||
	    !naming_locations_is_news(p, name))
		return;
	if (status == NAMING_OTHER_FILE)
		warn_of_difference(p, name, by_age);
	else
		log_say(LOG_WARNING, "%s%s%s", texts[status][0], name,
			texts[status][1]);
}
