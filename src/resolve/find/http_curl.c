/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_curl.c - implements http.h with libcurl, which is loaded at run time: most reports do
 * not need it. */
#define CURL_DISABLE_TYPECHECK /* its macros work only if libcurl is linked */
/* CURLOPT_PROTOCOLS is deprecated, but its replacement is too new */
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "resolve/find/http.h"

static const char elf_magic[] = "\177ELF";

/* The functions of the library that are used. */
struct curl {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	void (*easy_cleanup)(CURL *);
	const char *(*easy_strerror)(CURLcode);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_add_handle)(CURLM *, CURL *);
	CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
	CURLMcode (*multi_perform)(CURLM *, int *);
	CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned int, int,
				int *);
	CURLMsg *(*multi_info_read)(CURLM *, int *);
	CURLMcode (*multi_cleanup)(CURLM *);
};

struct http {
	struct curl curl;
	CURLM *multi;
	/* action of SIGPIPE to restore; a server can close the connection at any time */
	struct sigaction before;
};

static int http_curl_load(struct curl *c)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "curl_global_init", &c->global_init },
		{ "curl_easy_init", &c->easy_init },
		{ "curl_easy_setopt", &c->easy_setopt },
		{ "curl_easy_getinfo", &c->easy_getinfo },
		{ "curl_easy_cleanup", &c->easy_cleanup },
		{ "curl_easy_strerror", &c->easy_strerror },
		{ "curl_multi_init", &c->multi_init },
		{ "curl_multi_add_handle", &c->multi_add_handle },
		{ "curl_multi_remove_handle", &c->multi_remove_handle },
		{ "curl_multi_perform", &c->multi_perform },
		{ "curl_multi_poll", &c->multi_poll },
		{ "curl_multi_info_read", &c->multi_info_read },
		{ "curl_multi_cleanup", &c->multi_cleanup },
	};
	void *lib = NULL;

	for (size_t i = 0; !lib && i < COUNT_OF(names); i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; lib && i < COUNT_OF(functions); i++) {
		void *f = dlsym(lib, functions[i].name);

		if (!f)
			return -EOPNOTSUPP;
		memcpy(functions[i].to, &f, sizeof(f));
	}
	/* The library is never unloaded: threads of its resolver can outlive a request. */
	return lib ? 0 : -EOPNOTSUPP;
}

int http_new(struct http **ret_http)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct http *h = calloc(1, sizeof(*h));
	int r = h ? http_curl_load(&h->curl) : -ENOMEM;

	if (!r && h->curl.global_init(CURL_GLOBAL_DEFAULT))
		r = -EOPNOTSUPP;
	if (!r) {
		h->multi = h->curl.multi_init();
		r = h->multi ? 0 : -ENOMEM;
	}
	if (r) {
		free(h);
		return r;
	}
	sigaction(SIGPIPE, &ignore, &h->before);
	*ret_http = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	h->curl.multi_cleanup(h->multi);
	sigaction(SIGPIPE, &h->before, NULL);
	free(h);
}

/* Receives a chunk of the body. Returning a number other than its length ends the transfer. */
static size_t http_curl_take(char *bytes, size_t one, size_t len, void *ctx)
{
	struct http_get *get = ctx;
	size_t nr = one * len;
	size_t magic = sizeof(elf_magic) - 1;

	if (get->elf && get->bytes < magic) {
		size_t of_magic = magic - get->bytes;

		if (of_magic > nr)
			of_magic = nr;
		if (memcmp(bytes, elf_magic + get->bytes, of_magic) != 0) {
			get->outcome = HTTP_WRONG;
			return 0;
		}
	}
	if (nr > get->max_bytes || get->bytes > get->max_bytes - nr) {
		get->outcome = HTTP_TOO_LARGE;
		return 0;
	}
	if (io_write_all(get->fd, bytes, nr)) {
		get->outcome = HTTP_NO_ROOM;
		return 0;
	}
	get->bytes += nr;
	return nr;
}

/* Receives a line of the header, which does not end with a NUL. */
static size_t http_curl_take_header(char *line, size_t one, size_t len, void *ctx)
{
	static const char name[] = "X-DEBUGINFOD-SIZE:";
	struct http_get *get = ctx;
	size_t nr = one * len;
	size_t at = sizeof(name) - 1;
	char digits[24] = { 0 };
	size_t nr_digits = 0;

	if (nr < at || strncasecmp(line, name, at) != 0)
		return nr;
	while (at < nr && (line[at] == ' ' || line[at] == '\t'))
		at++;
	while (at < nr && line[at] >= '0' && line[at] <= '9' &&
	       nr_digits + 1 < sizeof(digits))
		digits[nr_digits++] = line[at++];
	if (!parse_u64(digits, &get->announced))
		get->announced = 0;
	return nr;
}

static void http_curl_set_up(const struct curl *c, CURL *easy, struct http_get *get)
{
	c->easy_setopt(easy, CURLOPT_URL, get->url);
	c->easy_setopt(easy, CURLOPT_PRIVATE, get);
	c->easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_curl_take);
	c->easy_setopt(easy, CURLOPT_WRITEDATA, get);
	c->easy_setopt(easy, CURLOPT_HEADERFUNCTION, http_curl_take_header);
	c->easy_setopt(easy, CURLOPT_HEADERDATA, get);
	c->easy_setopt(easy, CURLOPT_ERRORBUFFER, get->error);
	c->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS);
	c->easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
	c->easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	c->easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	c->easy_setopt(easy, CURLOPT_USERAGENT, "oprofile");
	c->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
	c->easy_setopt(easy, CURLOPT_MAXREDIRS, 5L);
	c->easy_setopt(easy, CURLOPT_PROTOCOLS,
		       (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE));
	c->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS,
		       (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	c->easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)get->max_bytes);
#if LIBCURL_VERSION_NUM >= 0x075700
	/* A name server that does not answer must not delay the end of the process. */
	c->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

int http_add(struct http *h, struct http_get *get)
{
	CURL *easy = h->curl.easy_init();

	if (!easy)
		return -ENOMEM;
	get->outcome = HTTP_RUNNING;
	get->bytes = 0;
	get->announced = 0;
	get->error[0] = '\0';
	http_curl_set_up(&h->curl, easy, get);
	if (h->curl.multi_add_handle(h->multi, easy)) {
		h->curl.easy_cleanup(easy);
		return -ENOMEM;
	}
	get->handle = easy;
	return 0;
}

void http_remove(struct http *h, struct http_get *get)
{
	if (!get->handle)
		return;
	h->curl.multi_remove_handle(h->multi, get->handle);
	h->curl.easy_cleanup(get->handle);
	get->handle = NULL;
}

static enum http_outcome outcome_of_status(long status)
{
	return status == 404 || status == 410 || status == 400 ? HTTP_NOT_THERE
							       : HTTP_REFUSED;
}

/* Returns the outcome of a finished transfer: the one that http_curl_take() has already set, or
 * else the one that follows from libcurl's result and the HTTP status. */
static enum http_outcome outcome_of(const struct http_get *get, CURLcode code,
				    long status)
{
	if (get->outcome != HTTP_RUNNING)
		return get->outcome;
	/* Without Content-Length, a connection that is closed early looks like the end. */
	if (code == CURLE_OK && get->announced && get->announced != get->bytes)
		return HTTP_BROKEN_OFF;
	/* file:// URLs have no status. */
	if (code == CURLE_OK)
		return status == 200 || !status ? HTTP_DONE : outcome_of_status(status);
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return outcome_of_status(status);
	if (code == CURLE_FILE_COULDNT_READ_FILE)
		return HTTP_NOT_THERE;
	if (code == CURLE_FILESIZE_EXCEEDED)
		return HTTP_TOO_LARGE;
	return get->bytes || status == 200 ? HTTP_BROKEN_OFF : HTTP_UNREACHABLE;
}

/* Sets the outcome and the error text of a finished transfer, and removes it from the multi
 * handle. Returns its request. */
static struct http_get *http_curl_end_of(struct http *h, const CURLMsg *msg)
{
	CURL *easy = msg->easy_handle;
	CURLcode code = msg->data.result;
	struct http_get *get = NULL;
	long status = 0;

	h->curl.easy_getinfo(easy, CURLINFO_PRIVATE, &get);
	h->curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	get->outcome = outcome_of(get, code, status);
	if (!get->error[0] && code == CURLE_OK)
		snprintf(get->error, sizeof(get->error), "the answer was incomplete");
	else if (!get->error[0])
		snprintf(get->error, sizeof(get->error), "%s",
			 h->curl.easy_strerror(code));
	http_remove(h, get);
	return get;
}

struct http_get *http_wait(struct http *h, int ms)
{
	const CURLMsg *msg;
	int running;
	int nr;

	for (int i = 0; i < 2; i++) {
		h->curl.multi_perform(h->multi, &running);
		while ((msg = h->curl.multi_info_read(h->multi, &nr)))
			if (msg->msg == CURLMSG_DONE)
				return http_curl_end_of(h, msg);
		if (!i)
			h->curl.multi_poll(h->multi, NULL, 0, ms, NULL);
	}
	return NULL;
}

const char *http_version(void)
{
	return LIBCURL_VERSION;
}
