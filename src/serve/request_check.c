/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/request_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/array.h"

/* Names of this machine's loopback interface.  A name that another site has chosen (DNS rebinding)
 * is not among them. */
static const char *const loopback_names[] = { "127.0.0.1", "localhost", "[::1]" };

enum {
	NAME_MAX_BYTES = 32
};

int request_token_make(char ret_token[SERVE_TOKEN_DIGITS + 1])
{
	unsigned char bytes[SERVE_TOKEN_BYTES];
	ssize_t got;

	do
		got = getrandom(bytes, sizeof(bytes), 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(bytes))
		return got < 0 ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

const char *request_token_strip(const char *path,
				const char token[SERVE_TOKEN_DIGITS + 1])
{
	unsigned int differs = 0;

	if (strlen(path) < SERVE_TOKEN_DIGITS + 2 || path[0] != '/' ||
	    path[SERVE_TOKEN_DIGITS + 1] != '/')
		return NULL;
	for (size_t i = 0; i < SERVE_TOKEN_DIGITS; i++)
		differs |= (unsigned char)path[i + 1] ^ (unsigned char)token[i];
	return differs ? NULL : path + SERVE_TOKEN_DIGITS + 2;
}

/* Returns whether `text` is NAME:PORT with a name of the loopback interface. */
static bool is_own_host(const char *text, uint16_t port)
{
	char own[NAME_MAX_BYTES];

	for (size_t i = 0; i < COUNT_OF(loopback_names); i++) {
		snprintf(own, sizeof(own), "%s:%u", loopback_names[i], port);
		if (!strcasecmp(text, own))
			return true;
	}
	return false;
}

/* Returns whether `origin` is this server under the name that the request used. */
static bool is_own_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return !strncasecmp(origin, scheme, sizeof(scheme) - 1) &&
	       !strcasecmp(origin + sizeof(scheme) - 1, host);
}

bool request_type_is_json(const char *content_type)
{
	static const char json[] = "application/json";
	char next;

	if (!content_type || strncasecmp(content_type, json, sizeof(json) - 1) != 0)
		return false;
	next = content_type[sizeof(json) - 1];
	return !next || next == ';' || next == ' ';
}

const char *request_refusal(const struct request_heads *heads, uint16_t port,
			    bool is_page)
{
	const char *site = heads->fetch_site;
	bool is_post = !strcmp(heads->method, "POST");

	if (!heads->host || !is_own_host(heads->host, port))
		return "the header Host is not the address of this server";
	if (heads->origin && !is_own_origin(heads->origin, heads->host))
		return "the request comes from the page of another site";
	/* "none": the user typed the address. */
	if (!is_page && site && strcmp(site, "same-origin") != 0 &&
	    strcmp(site, "none") != 0)
		return "the request comes from the page of another site";
	if (is_post && !heads->origin)
		return "a POST needs the header Origin with the address of this server";
	if (is_post && !request_type_is_json(heads->content_type))
		return "a POST needs the header Content-Type: application/json";
	return NULL;
}
