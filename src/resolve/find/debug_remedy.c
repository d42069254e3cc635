/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debug_remedy.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "base/shell_word.h"
#include "resolve/elf/build_id.h"

enum {
	RELEASE_MAX = 1 << 16,
	ID_MAX = 64
};

/* How a distribution finds the package of debug information. */
enum debug_package {
	PACKAGE_NONE,
	PACKAGE_OF_PATH,  /* the command takes the path of the binary */
	PACKAGE_OF_FILE,  /* the command takes the path of the debug file */
	PACKAGE_OF_NUMBER /* the command takes the build-id */
};

struct distribution {
	const char *id; /* ID or a word of ID_LIKE in os-release(5) */
	const char *server;
	enum debug_package package;
	const char *command;
};

static const struct distribution distributions[] = {
	{ "ubuntu", "https://debuginfod.ubuntu.com", PACKAGE_OF_PATH,
	  "find-dbgsym-packages " },
	{ "debian", "https://debuginfod.debian.net", PACKAGE_OF_PATH,
	  "find-dbgsym-packages " },
	{ "fedora", "https://debuginfod.fedoraproject.org", PACKAGE_OF_FILE,
	  "sudo dnf --enablerepo='*debug*' install " },
	{ "centos", "https://debuginfod.centos.org", PACKAGE_OF_FILE,
	  "sudo dnf --enablerepo='*debug*' install " },
	{ "rhel", "https://debuginfod.centos.org", PACKAGE_OF_FILE,
	  "sudo dnf --enablerepo='*debug*' install " },
	{ "suse", "https://debuginfod.opensuse.org", PACKAGE_OF_NUMBER,
	  "sudo zypper install --plus-content debug " },
	{ "arch", "https://debuginfod.archlinux.org", PACKAGE_NONE, NULL },
};
static const struct distribution unknown = { "", "https://debuginfod.elfutils.org",
					     PACKAGE_NONE, NULL };

static const struct distribution *distribution_named(const char *id, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(distributions); i++) {
		const struct distribution *d = &distributions[i];

		if (strlen(d->id) == len && !strncmp(d->id, id, len))
			return d;
	}
	return NULL;
}

/* Returns the first known word in the value of a line such as ID_LIKE="rhel fedora". */
static const struct distribution *distribution_in_line(const char *text,
						       const char *name)
{
	size_t len = strlen(name);
	const char *at = text;

	while (at && strncmp(at, name, len) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	at = at ? at + len : "";
	while (*at && *at != '\n') {
		size_t word = strcspn(at, "\"' \n");
		const struct distribution *d = distribution_named(at, word);

		if (d)
			return d;
		at += word;
		at += strspn(at, "\"' ");
	}
	return NULL;
}

const struct distribution *distribution_find(const char *root)
{
	static const char *const files[] = { "/etc/os-release", "/usr/lib/os-release" };
	const struct distribution *found = NULL;

	for (size_t i = 0; !found && i < COUNT_OF(files); i++) {
		struct buf text = { 0 };
		char path[4096];

		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		if (!io_read_file(path, &text, RELEASE_MAX)) {
			buf_put_u8(&text, 0);
			if (!text.failed)
				found = distribution_in_line((char *)text.data, "ID=");
			if (!text.failed && !found)
				found = distribution_in_line((char *)text.data,
							     "ID_LIKE=");
		}
		buf_done(&text);
	}
	return found ? found : &unknown;
}

const char *distribution_server(const struct distribution *d)
{
	return d->server;
}

/* Returns whether a path is in a directory in which packages install files. */
static bool is_packaged(const char *path)
{
	static const char *const dirs[] = { "/usr/", "/lib", "/bin/", "/sbin/" };

	if (!strncmp(path, "/usr/local/", strlen("/usr/local/")))
		return false;
	for (size_t i = 0; i < COUNT_OF(dirs); i++) {
		if (!strncmp(path, dirs[i], strlen(dirs[i])))
			return true;
	}
	return *path == '[' || !*path; /* the kernel, a vdso */
}

static void remedy_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void remedy_put_package(struct buf *out, const struct debug_remedy *remedy,
			       const char *hex)
{
	const struct distribution *d = remedy->distribution;

	remedy_put_text(out, d->command);
	if (d->package == PACKAGE_OF_PATH) {
		shell_word_put(out, remedy->path);
	} else if (d->package == PACKAGE_OF_FILE) {
		remedy_put_text(out, "/usr/lib/debug/.build-id/");
		buf_put(out, hex, 2);
		buf_put_u8(out, '/');
		remedy_put_text(out, hex + 2);
		remedy_put_text(out, ".debug");
	} else {
		remedy_put_text(out, "'debuginfo(build-id)=");
		remedy_put_text(out, hex);
		buf_put_u8(out, '\'');
	}
}

void debug_remedy_put(struct buf *out, const struct debug_remedy *remedy)
{
	const struct distribution *d = remedy->distribution;
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_to_hex(remedy->build_id, hex);
	if (strlen(hex) <= 2 || !is_packaged(remedy->path)) {
		remedy_put_text(out,
				"build it with -g -Wl,--build-id, and do not strip it");
	} else if (!remedy->has_servers) {
		remedy_put_text(out, "export DEBUGINFOD_URLS=");
		remedy_put_text(out, remedy->foreign ? unknown.server : d->server);
	} else if (d->package != PACKAGE_NONE && !remedy->foreign &&
		   *remedy->path != '[') {
		remedy_put_package(out, remedy, hex);
	} else {
		remedy_put_text(out, "debuginfod-find debuginfo ");
		remedy_put_text(out, hex);
	}
}
