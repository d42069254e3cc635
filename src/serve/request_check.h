/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_check.h - decides whether a request comes from the page of this server.
 * Layer: serve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	SERVE_TOKEN_BYTES = 16,
	SERVE_TOKEN_DIGITS = 2 * SERVE_TOKEN_BYTES
};

/* The method and the headers that are checked. A missing header is NULL. */
struct request_heads {
	const char *method;
	const char *host;
	const char *origin;
	const char *fetch_site; /* Sec-Fetch-Site */
	const char *content_type;
};

/* Stores a random token as hexadecimal digits.  Returns 0 or a negative errno. */
int request_token_make(char ret_token[SERVE_TOKEN_DIGITS + 1]);
/* Returns the rest of the path after "/TOKEN/", or NULL if the token is wrong or missing.  The
 * duration does not depend on where the token differs. */
const char *request_token_strip(const char *path,
				const char token[SERVE_TOKEN_DIGITS + 1]);
/* Returns NULL if the request may be answered, or else the reason for status 403. `port` is the
 * port of this server. `is_page`: the request loads the page itself or one of its files; a link on
 * another site can also do this. */
const char *request_refusal(const struct request_heads *heads, uint16_t port,
			    bool is_page);
/* Returns whether a value of Content-Type is JSON. */
bool request_type_is_json(const char *content_type);
