/* SPDX-License-Identifier: GPL-2.0-or-later */
/* browser.h - opens an address in the user's browser.
 * Layer: serve.  The address contains a token, and every user can read the arguments of a process.
 * So the browser gets the name of a file that only its user can read, and that file leads to the
 * address. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/* The user who sees the desktop. */
struct desktop_user {
	bool is_other; /* this process is root, called by sudo */
	uid_t uid;
	gid_t gid;
	char *name, *home;
};

struct page_browser {
	struct desktop_user user;
	char *dir, *file; /* NULL: there is no file */
};

/* Starts the browser, and does not wait for it. If this process is root, the browser runs as the
 * user who called sudo. Returns 0, or a negative errno: -ENOTTY if there is no desktop, or the
 * browser would run as root. */
int page_browser_open(struct page_browser *b, const char *url);
/* Like page_browser_open(), but opens an existing file by its full path. Does not need a call of
 * page_browser_done(). */
int page_browser_show(const char *path);
/* Removes the file and frees everything. Call it when the browser has requested the page. */
void page_browser_done(struct page_browser *b);
