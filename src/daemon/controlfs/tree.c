/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/controlfs/tree.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/parse.h"

enum {
	LIST_MS = 100, /* how long a listing stays valid */
	VALUE_MAX = 2048,
	REFUSED_BYTES =
		64, /* the prefix of a refused value that the error report shows */
	STREAM_MODE = 0400
};

static const char cookies[] = "/dcookies";
static const char stream_file[] = "/buffer";

struct controlfs_tree {
	pthread_mutex_t lock; /* allows one request at a time */
	const char *run_dir;
	struct control_client daemon;
	bool connected;
	struct control_reply keys; /* paths without the leading /, with modes */
	uint64_t listed_ms;
};

static uint64_t controlfs_tree_now_ms(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

int controlfs_tree_new(const char *run_dir, struct controlfs_tree **ret_tree)
{
	struct controlfs_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->run_dir = run_dir;
	pthread_mutex_init(&t->lock, NULL);
	*ret_tree = t;
	return 0;
}

void controlfs_tree_free(struct controlfs_tree *t)
{
	if (!t)
		return;
	if (t->connected)
		control_disconnect(&t->daemon);
	control_reply_done(&t->keys);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* Returns whether the connection cannot be used any more. */
static bool is_broken(int code)
{
	return code == -ECONNRESET || code == -ETIMEDOUT || code == -EBADMSG ||
	       code == -EPIPE;
}

/* Like control_request(), but reconnects if the connection broke, because the daemon may have
 * been restarted. */
static int controlfs_tree_ask(struct controlfs_tree *t, const char *const *words,
			      struct control_reply *ret_reply)
{
	int r = -ENOTCONN;

	for (int attempt = 0; attempt < 2; attempt++) {
		bool fresh = !t->connected;
		struct err err = { 0 };

		if (fresh && control_connect(&t->daemon, t->run_dir, &err))
			return -ENOTCONN;
		t->connected = true;
		r = control_request(&t->daemon, words, ret_reply, &err);
		if (!is_broken(r))
			return r == -EREMOTEIO ? -EIO : r;
		control_disconnect(&t->daemon);
		t->connected = false;
		if (fresh)
			break;
	}
	return r;
}

/* Requests the list of files from the daemon, at most every LIST_MS. If no daemon answers, the
 * tree is empty. */
static void refresh(struct controlfs_tree *t)
{
	static const char *const words[] = { "list", NULL };
	uint64_t now = controlfs_tree_now_ms();

	if (t->listed_ms && now - t->listed_ms < LIST_MS)
		return;
	control_reply_done(&t->keys);
	(void)controlfs_tree_ask(t, words, &t->keys);
	t->listed_ms = now;
}

/* Returns the entry of directory `folder` ("/0"; "" for the root) that contains the key "0/event"
 * or is it; not 0-terminated, with its length in *ret_len. Returns NULL if the key is not below
 * the directory. */
static const char *below(const char *key, const char *folder, size_t *ret_len)
{
	size_t len = strlen(folder);

	if (len && (strncmp(key, folder + 1, len - 1) != 0 || key[len - 1] != '/'))
		return NULL;
	key += len;
	*ret_len = strcspn(key, "/");
	return key;
}

static const char *folder_of(const char *path)
{
	return strcmp(path, "/") ? path : "";
}

static bool is_cookie(const char *path)
{
	uint64_t v;

	return !strncmp(path, cookies, sizeof(cookies) - 1) &&
	       path[sizeof(cookies) - 1] == '/' &&
	       parse_u64(path + sizeof(cookies), &v);
}

bool controlfs_tree_is_stream(const char *path)
{
	return !strcmp(path, stream_file);
}

static mode_t parse_mode(const char *text)
{
	mode_t mode = 0;

	for (; *text >= '0' && *text <= '7'; text++)
		mode = mode << 3 | (mode_t)(*text - '0');
	return mode & 0777;
}

static int controlfs_tree_find(struct controlfs_tree *t, const char *path,
			       mode_t *ret_mode)
{
	const char *folder = folder_of(path);

	*ret_mode = S_IFDIR | 0755;
	if (!*folder)
		return 0;
	refresh(t);
	for (size_t i = 0; i < t->keys.fields.nr; i++) {
		const struct control_field *f = &t->keys.fields.at[i];
		size_t len;

		if (!strcmp(f->key, path + 1)) {
			*ret_mode = S_IFREG | parse_mode(f->value);
			return 0;
		}
		if (below(f->key, folder, &len))
			return 0;
	}
	if (!t->keys.fields.nr)
		return -ENOENT;
	if (!strcmp(path, cookies))
		return 0;
	*ret_mode = S_IFREG | STREAM_MODE;
	return is_cookie(path) || controlfs_tree_is_stream(path) ? 0 : -ENOENT;
}

int controlfs_tree_mode(struct controlfs_tree *t, const char *path, mode_t *ret_mode)
{
	int r;

	pthread_mutex_lock(&t->lock);
	r = controlfs_tree_find(t, path, ret_mode);
	pthread_mutex_unlock(&t->lock);
	return r;
}

/* Returns whether no earlier key than the i-th one gives the same entry of the directory, so that
 * it is listed once. */
static bool controlfs_tree_is_first(const struct controlfs_tree *t, size_t i,
				    const char *folder, const char *name, size_t len)
{
	while (i--) {
		size_t other_len;
		const char *other = below(t->keys.fields.at[i].key, folder, &other_len);

		if (other && other_len == len && !strncmp(other, name, len))
			return false;
	}
	return true;
}

static void add_names(const struct controlfs_tree *t, const char *folder,
		      void (*add)(void *ctx, const char *name), void *ctx)
{
	for (size_t i = 0; i < t->keys.fields.nr; i++) {
		size_t len;
		const char *at = below(t->keys.fields.at[i].key, folder, &len);
		char name[256];

		if (!at || !len || len >= sizeof(name) ||
		    !controlfs_tree_is_first(t, i, folder, at, len))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		add(ctx, name);
	}
}

int controlfs_tree_names(struct controlfs_tree *t, const char *path,
			 void (*add)(void *ctx, const char *name), void *ctx)
{
	mode_t mode;
	int r;

	pthread_mutex_lock(&t->lock);
	r = controlfs_tree_find(t, path, &mode);
	if (!r && !S_ISDIR(mode))
		r = -ENOTDIR;
	if (!r)
		refresh(t);
	if (!r)
		add_names(t, folder_of(path), add, ctx);
	if (!r && !*folder_of(path) && t->keys.fields.nr) {
		const char *const ours[] = { cookies + 1, stream_file + 1 };

		for (size_t i = 0; i < 2; i++) {
			if (controlfs_tree_is_first(t, t->keys.fields.nr, "", ours[i],
						    strlen(ours[i])))
				add(ctx, ours[i]);
		}
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

/* Joins the reply's values into one text, one per line. */
static int controlfs_tree_join(const struct control_reply *reply, char **ret_text)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < reply->fields.nr; i++) {
		const char *value = reply->fields.at[i].value;

		buf_put(&out, value, strlen(value));
		buf_put_u8(&out, '\n');
	}
	buf_put_u8(&out, '\0');
	if (out.failed) {
		buf_done(&out);
		return -ENOMEM;
	}
	*ret_text = (char *)out.data;
	return 0;
}

int controlfs_tree_read(struct controlfs_tree *t, const char *path, char **ret_text)
{
	struct control_reply reply = { 0 };
	bool cookie = is_cookie(path);
	const char *const words[] = {
		cookie ? "cookie" : "get",
		cookie ? path + sizeof(cookies) : path + 1,
		NULL,
	};
	int r;

	pthread_mutex_lock(&t->lock);
	r = controlfs_tree_ask(t, words, &reply);
	pthread_mutex_unlock(&t->lock);
	if (!r)
		r = controlfs_tree_join(&reply, ret_text);
	control_reply_done(&reply);
	return r;
}

int controlfs_tree_write(struct controlfs_tree *t, const char *path, const char *text,
			 size_t len)
{
	char value[VALUE_MAX];
	const char *const words[] = { "set", path + 1, value, NULL };
	int r;

	while (len && strchr(" \t\n", text[len - 1]))
		len--;
	if (len >= sizeof(value) || memchr(text, '\0', len) || memchr(text, '\n', len))
		return controlfs_tree_refuse(t, path, text, len);
	memcpy(value, text, len);
	value[len] = '\0';
	pthread_mutex_lock(&t->lock);
	r = controlfs_tree_ask(t, words, NULL);
	t->listed_ms = 0;
	pthread_mutex_unlock(&t->lock);
	return r;
}

/* Sends a value with a comma, which the daemon always refuses, so that it records the reason. */
int controlfs_tree_refuse(struct controlfs_tree *t, const char *path, const char *text,
			  size_t len)
{
	char value[VALUE_MAX];
	const char *const words[] = { "set", path + 1, value, NULL };
	size_t kept = len < REFUSED_BYTES ? len : REFUSED_BYTES;
	int r;

	memcpy(value, text, kept);
	for (size_t i = 0; i < kept; i++)
		if ((unsigned char)value[i] < ' ')
			value[i] = ',';
	snprintf(value + kept, sizeof(value) - kept, ",%s", kept < len ? "..." : "");
	pthread_mutex_lock(&t->lock);
	r = controlfs_tree_ask(t, words, NULL);
	pthread_mutex_unlock(&t->lock);
	return r ? r : -EINVAL;
}

int controlfs_tree_stream(struct controlfs_tree *t, struct control_client *ret_client)
{
	static const char *const words[] = { "stream", NULL };
	struct err err = { 0 };
	int r;

	if (control_connect(ret_client, t->run_dir, &err))
		return -ENOTCONN;
	r = control_request(ret_client, words, NULL, &err);
	if (r)
		control_disconnect(ret_client);
	return r == -EREMOTEIO ? -EIO : r;
}
