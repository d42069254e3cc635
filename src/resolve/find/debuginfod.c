/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debuginfod.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/log.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/http.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	STEP_MS = 100, /* interval of progress reports */
};

struct server {
	char *url; /* without a trailing slash */
	uint64_t key;
	bool looked; /* the record of recent failures was checked */
	bool down;   /* not used any more */
	bool answered; /* the server has sent a file, or reported that it does not have one */
	bool said; /* a warning about a wrong or too large file was printed */
};

struct debuginfod {
	char *cache_dir;
	uint64_t left_ms; /* remaining waiting time */
	uint64_t timeout_ms;
	uint64_t max_bytes;
	bool ask_failed;
	void (*progress)(void *ctx, size_t done, size_t files, uint64_t bytes);
	void *ctx;
	VEC(struct server) servers;
	struct map asked; /* hash of a want -> 0 */
	bool no_http;
};

/* State of a request to a server. */
enum answer {
	ANSWER_NOT_ASKED,
	ANSWER_COMING,
	ANSWER_NOT_THERE,
	ANSWER_FAILED
};

struct debuginfod_job {
	enum answer answer;
	struct http_get get;
	struct debuginfod_part part;
	char *url;
};

/* A file being requested, from all servers until one begins to send it. */
struct debuginfod_file {
	const struct debuginfod_want *want; /* NULL: unused */
	struct debuginfod_job jobs[DEBUGINFOD_SERVERS_MAX];
};

/* One call of debuginfod_fetch(). */
struct fetch {
	struct debuginfod *d;
	struct http *http;
	const struct debuginfod_want *wants;
	size_t nr;
	size_t next; /* index in the list of wanted files of the next one to start */
	size_t nr_over;
	size_t nr_late; /* number of files not finished before the timeout */
	uint64_t bytes; /* in complete files */
	struct debuginfod_file files[DEBUGINFOD_AT_ONCE];
};

static uint64_t debuginfod_now_ms(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

static int add_server(struct debuginfod *d, const char *url, size_t len)
{
	struct server s = { 0 };

	while (len && url[len - 1] == '/')
		len--;
	for (size_t i = 0; i < d->servers.nr; i++)
		if (!strncmp(d->servers.at[i].url, url, len) &&
		    !d->servers.at[i].url[len])
			return 0;
	if (!len || d->servers.nr == DEBUGINFOD_SERVERS_MAX)
		return 0;
	s.url = strndup(url, len);
	s.key = hash_bytes(url, len, 0);
	if (s.url && vec_push(&d->servers, s))
		return 0;
	free(s.url);
	return -ENOMEM;
}

static int add_servers(struct debuginfod *d, const char *urls)
{
	int r = 0;

	while (!r && *urls) {
		size_t len = strcspn(urls, " \t\n");

		r = add_server(d, urls, len);
		urls += len;
		urls += strspn(urls, " \t\n");
	}
	return r;
}

int debuginfod_new(const struct debuginfod_options *options,
		   struct debuginfod **ret_debuginfod)
{
	struct debuginfod *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->left_ms = d->timeout_ms = options->timeout_ms;
	d->max_bytes = options->max_bytes ? options->max_bytes : DEBUGINFOD_MAX_BYTES;
	d->ask_failed = options->ask_failed;
	d->progress = options->progress;
	d->ctx = options->ctx;
	d->cache_dir = strdup(options->cache_dir);
	if (!d->cache_dir || add_servers(d, options->urls)) {
		debuginfod_free(d);
		return -ENOMEM;
	}
	*ret_debuginfod = d;
	return 0;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->servers.nr; i++)
		free(d->servers.at[i].url);
	vec_done(&d->servers);
	map_done(&d->asked);
	free(d->cache_dir);
	free(d);
}

static uint64_t hash_of(const struct debuginfod_want *want)
{
	uint64_t hash = hash_bytes(want->id.bytes, want->id.len, want->kind);

	return want->source ? hash_bytes(want->source, strlen(want->source), hash)
			    : hash;
}

int debuginfod_open(struct debuginfod *d, const struct debuginfod_want *want,
		    int *ret_fd, char **ret_path)
{
	int r = want->id.len
			? debuginfod_cache_open(d->cache_dir, want, ret_fd, ret_path)
			: -ENOENT;

	if (r == -EAGAIN &&
	    (!d->left_ms || d->no_http || map_get(&d->asked, hash_of(want), 0) == 1))
		r = -ENOENT;
	return r;
}

/* Returns whether to use the server. If not, logs the reason once. */
static bool is_up(const struct debuginfod *d, struct server *s)
{
	int64_t age;

	if (s->looked || d->ask_failed)
		return !s->down;
	s->looked = true;
	age = debuginfod_cache_failed(d->cache_dir, s->key);
	if (age < 0)
		return true;
	s->down = true;
	log_say(LOG_NOTE,
		"the debuginfod server %s failed %" PRId64
		" s ago and will be tried again later (--debuginfod-timeout=SECONDS tries it now)",
		s->url, age);
	return false;
}

/* Gives up a server that does not work, for this run and the next ones. */
static void debuginfod_give_up(struct fetch *f, struct server *s, const char *why)
{
	s->down = true;
	debuginfod_cache_note(f->d->cache_dir, s->key, true);
	log_say(LOG_WARNING, "the debuginfod server %s cannot be used: %s", s->url,
		why);
}

/* For /buildid/ID/source/PATH: escapes characters that URLs must not contain. */
static void debuginfod_put_escaped(struct buf *out, const char *path)
{
	static const char plain[] = "-._~/";

	for (; *path; path++) {
		if (isalnum((unsigned char)*path) || strchr(plain, *path)) {
			buf_put_u8(out, (uint8_t)*path);
		} else {
			buf_put_u8(out, '%');
			buf_put_hex(out, (uint8_t)*path, 2);
		}
	}
}

static char *url_of(const struct server *s, const struct debuginfod_want *want)
{
	struct buf url = { 0 };
	char hex[HEX_BYTES];

	build_id_to_hex(&want->id, hex);
	buf_put(&url, s->url, strlen(s->url));
	buf_put(&url, "/buildid/", strlen("/buildid/"));
	buf_put(&url, hex, strlen(hex));
	buf_put_u8(&url, '/');
	buf_put(&url, debuginfod_kind_name(want->kind),
		strlen(debuginfod_kind_name(want->kind)));
	if (want->source)
		debuginfod_put_escaped(&url, want->source);
	buf_put_u8(&url, 0);
	if (!url.failed)
		return (char *)url.data;
	buf_done(&url);
	return NULL;
}

/* Marks all servers as unusable, because no file can be stored; running requests continue. */
static void stop_all(struct fetch *f, const char *why)
{
	for (size_t i = 0; i < f->d->servers.nr; i++)
		f->d->servers.at[i].down = f->d->servers.at[i].looked = true;
	if (!f->d->no_http)
		log_say(LOG_WARNING,
			"'%s' cannot be written, so no files are fetched from debuginfod servers: "
			"%s",
			f->d->cache_dir, why);
	f->d->no_http = true;
}

/* Ends a request in any state: cancels it if it is running, and removes its temporary file. */
static void debuginfod_end_job(struct fetch *f, struct debuginfod_job *j,
			       enum answer answer)
{
	if (f->http)
		http_remove(f->http, &j->get);
	debuginfod_cache_drop(&j->part);
	free(j->url);
	*j = (struct debuginfod_job){ .answer = answer };
}

static void debuginfod_start_job(struct fetch *f, struct debuginfod_file *file,
				 size_t server)
{
	struct debuginfod_job *j = &file->jobs[server];
	int r;

	*j = (struct debuginfod_job){ .answer = ANSWER_FAILED };
	if (!is_up(f->d, &f->d->servers.at[server]))
		return;
	j->url = url_of(&f->d->servers.at[server], file->want);
	r = debuginfod_cache_begin(f->d->cache_dir, file->want, &j->part);
	if (r)
		stop_all(f, strerror(-r));
	if (r || !j->url) {
		debuginfod_end_job(f, j, ANSWER_FAILED);
		return;
	}
	j->get = (struct http_get){
		.url = j->url,
		.fd = j->part.fd,
		.max_bytes = f->d->max_bytes,
		.elf = file->want->kind != DEBUGINFOD_SOURCE,
		.ctx = file,
	};
	if (http_add(f->http, &j->get))
		debuginfod_end_job(f, j, ANSWER_FAILED);
	else
		j->answer = ANSWER_COMING;
}

static void end_file(struct fetch *f, struct debuginfod_file *file)
{
	for (size_t i = 0; i < f->d->servers.nr; i++)
		debuginfod_end_job(f, &file->jobs[i], ANSWER_NOT_ASKED);
	file->want = NULL;
	f->nr_over++;
}

/* Requests the file from all servers that have not been queried yet. If no request is running
 * then, ends the file; if no server has it, also records that in the cache. */
static void debuginfod_go_on(struct fetch *f, struct debuginfod_file *file)
{
	size_t nr_coming = 0;
	size_t nr_not_there = 0;

	for (size_t i = 0; i < f->d->servers.nr; i++) {
		struct debuginfod_job *j = &file->jobs[i];

		if (j->answer == ANSWER_NOT_ASKED)
			debuginfod_start_job(f, file, i);
		nr_coming += j->answer == ANSWER_COMING;
		nr_not_there += j->answer == ANSWER_NOT_THERE;
	}
	if (nr_coming)
		return;
	if (nr_not_there == f->d->servers.nr)
		debuginfod_cache_miss(f->d->cache_dir, file->want);
	end_file(f, file);
}

/* Returns whether to fetch the file: false if the cache already has a result or it was
 * requested before. */
static bool is_to_be_asked(struct fetch *f, const struct debuginfod_want *want)
{
	uint64_t key = hash_of(want);
	char *path;
	int fd;
	int r = debuginfod_open(f->d, want, &fd, &path);

	if (!r) {
		close(fd);
		free(path);
	}
	if (r != -EAGAIN || map_set(&f->d->asked, key, 0, 1))
		return false;
	return f->d->ask_failed || debuginfod_cache_failed(f->d->cache_dir, key) < 0;
}

static void debuginfod_fill(struct fetch *f)
{
	for (size_t i = 0; i < DEBUGINFOD_AT_ONCE && f->next < f->nr; i++) {
		struct debuginfod_file *file = &f->files[i];

		while (!file->want && f->next < f->nr) {
			const struct debuginfod_want *want = &f->wants[f->next++];

			if (!is_to_be_asked(f, want)) {
				f->nr_over++;
				continue;
			}
			*file = (struct debuginfod_file){ .want = want };
			debuginfod_go_on(f, file);
		}
	}
}

static bool is_idle(const struct fetch *f)
{
	for (size_t i = 0; i < DEBUGINFOD_AT_ONCE; i++)
		if (f->files[i].want)
			return false;
	return true;
}

/* When one server begins to send a file, cancels the requests to the others. */
static void commit(struct fetch *f, struct debuginfod_file *file)
{
	size_t sender = 0;

	while (sender < f->d->servers.nr && !file->jobs[sender].get.bytes)
		sender++;
	if (!file->want || sender == f->d->servers.nr)
		return;
	for (size_t i = 0; i < f->d->servers.nr; i++)
		if (i != sender && file->jobs[i].answer == ANSWER_COMING)
			debuginfod_end_job(f, &file->jobs[i], ANSWER_NOT_ASKED);
}

/* Writes the wanted build-id as text to `hex`. Returns whether no message about the server was
 * printed before. */
static bool is_first_message(struct server *s, const struct debuginfod_want *want,
			     char hex[HEX_BYTES])
{
	bool is_first = !s->said;

	s->said = true;
	build_id_to_hex(&want->id, hex);
	return is_first;
}

static void say_wrong(struct server *s, const struct debuginfod_want *want)
{
	char hex[HEX_BYTES];

	if (!is_first_message(s, want, hex))
		return;
	log_say(LOG_WARNING,
		"the debuginfod server %s sent a file that is not the whole %s with build-id %s: discarded",
		s->url, debuginfod_kind_name(want->kind), hex);
}

static void say_too_large(const struct debuginfod *d, struct server *s,
			  const struct debuginfod_want *want)
{
	char hex[HEX_BYTES];

	if (!is_first_message(s, want, hex))
		return;
	log_say(LOG_WARNING,
		"the debuginfod server %s has a %s with build-id %s of more than %llu MB: not fetched (see DEBUGINFOD_MAXSIZE)",
		s->url, debuginfod_kind_name(want->kind), hex,
		(unsigned long long)d->max_bytes >> 20);
}

static void note_answer(struct fetch *f, struct server *s)
{
	if (!s->answered)
		debuginfod_cache_note(f->d->cache_dir, s->key, false);
	s->answered = true;
}

/* A complete file has arrived: verifies it and stores it in the cache. Returns whether it was
 * stored. */
static bool debuginfod_keep(struct fetch *f, struct debuginfod_file *file,
			    struct debuginfod_job *j, struct server *s)
{
	uint64_t bytes = j->get.bytes;

	if (!debuginfod_cache_is(j->part.fd, file->want)) {
		say_wrong(s, file->want);
		return false;
	}
	if (debuginfod_cache_keep(f->d->cache_dir, file->want, &j->part))
		return false;
	note_answer(f, s);
	f->bytes += bytes;
	return true;
}

static void take_end(struct fetch *f, struct http_get *get)
{
	struct debuginfod_file *file = get->ctx;
	size_t i = 0;
	struct server *s;
	enum answer answer = ANSWER_FAILED;

	while (&file->jobs[i].get != get)
		i++;
	s = &f->d->servers.at[i];
	switch (get->outcome) {
	case HTTP_DONE:
		if (debuginfod_keep(f, file, &file->jobs[i], s)) {
			end_file(f, file);
			return;
		}
		break;
	case HTTP_NOT_THERE:
		note_answer(f, s);
		answer = ANSWER_NOT_THERE;
		break;
	case HTTP_WRONG:
		say_wrong(s, file->want);
		break;
	case HTTP_UNREACHABLE:
	case HTTP_REFUSED:
	case HTTP_BROKEN_OFF:
		if (!s->down)
			debuginfod_give_up(f, s, get->error);
		break;
	case HTTP_NO_ROOM:
		stop_all(f, get->error);
		break;
	case HTTP_TOO_LARGE:
		say_too_large(f->d, s, file->want);
		break;
	case HTTP_RUNNING:
	default:
		break;
	}
	debuginfod_end_job(f, &file->jobs[i], answer);
	debuginfod_go_on(f, file);
}

static void debuginfod_report_progress(const struct fetch *f)
{
	uint64_t bytes = f->bytes;

	if (!f->d->progress)
		return;
	for (size_t i = 0; i < DEBUGINFOD_AT_ONCE; i++)
		for (size_t k = 0; f->files[i].want && k < f->d->servers.nr; k++)
			bytes += f->files[i].jobs[k].get.bytes;
	f->d->progress(f->d->ctx, f->nr_over, f->nr, bytes);
}

/* Ends the requests at the deadline: marks the unfinished files as failed, and also each server
 * that did not complete any file or answer. */
static void break_off(struct fetch *f)
{
	bool late[DEBUGINFOD_SERVERS_MAX] = { 0 };

	for (size_t i = 0; i < DEBUGINFOD_AT_ONCE; i++) {
		struct debuginfod_file *file = &f->files[i];

		if (!file->want)
			continue;
		for (size_t k = 0; k < f->d->servers.nr; k++)
			late[k] |= file->jobs[k].answer == ANSWER_COMING;
		debuginfod_cache_note(f->d->cache_dir, hash_of(file->want), true);
		end_file(f, file);
		f->nr_late++;
	}
	f->nr_late += f->nr - f->next;
	for (size_t k = 0; k < f->d->servers.nr; k++) {
		struct server *s = &f->d->servers.at[k];

		if (s->answered || s->down)
			continue;
		if (late[k])
			debuginfod_give_up(f, s, "no file was complete in time");
		else if (s->said)
			debuginfod_cache_note(f->d->cache_dir, s->key, true);
	}
	if (f->nr_late)
		log_say(LOG_WARNING,
			"%zu of %zu files did not come from debuginfod servers in %g s (--debuginfod-timeout)",
			f->nr_late, f->nr, (double)f->d->timeout_ms / MS_PER_S);
}

static void debuginfod_run(struct fetch *f, uint64_t end_ms)
{
	for (;;) {
		uint64_t now = debuginfod_now_ms();
		struct http_get *get;

		debuginfod_fill(f);
		if (is_idle(f))
			return;
		debuginfod_report_progress(f);
		if (now >= end_ms)
			return;
		get = http_wait(f->http,
				end_ms - now < STEP_MS ? (int)(end_ms - now) : STEP_MS);
		if (get)
			take_end(f, get);
		for (size_t i = 0; i < DEBUGINFOD_AT_ONCE; i++)
			commit(f, &f->files[i]);
	}
}

void debuginfod_fetch(struct debuginfod *d, const struct debuginfod_want *wants,
		      size_t nr)
{
	uint64_t start = debuginfod_now_ms();
	uint64_t spent;
	struct fetch *f;

	if (!nr || !d->left_ms || d->no_http || !d->servers.nr)
		return;
	f = calloc(1, sizeof(*f));
	if (!f)
		return;
	f->d = d;
	f->wants = wants;
	f->nr = nr;
	if (!http_new(&f->http)) {
		debuginfod_cache_sweep(d->cache_dir);
		debuginfod_run(f, start + d->left_ms);
		break_off(f);
		http_free(f->http);
	} else {
		d->no_http = true;
		/* --version shows whether the build has libcurl. */
		log_say(http_version() ? LOG_NOTE : LOG_DEBUG,
			"cannot fetch files from the servers in DEBUGINFOD_URLS: the library libcurl is not installed");
	}
	free(f);
	spent = debuginfod_now_ms() - start;
	d->left_ms = spent < d->left_ms ? d->left_ms - spent : 0;
}
