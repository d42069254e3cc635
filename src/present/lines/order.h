/* order.h - in which order the lines of a report stand: OProfile's --sort.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "present/lines/ties.h"

struct err;
struct profile;

enum order_key {
	ORDER_VMA,
	ORDER_SAMPLE, /* the most first; all others upwards */
	ORDER_SYMBOL,
	ORDER_DEBUG, /* file and line of a function */
	ORDER_IMAGE,
	ORDER_APP,
	ORDER_KEY_COUNT
};

/* What was asked for; nothing: by samples. */
struct order {
	enum order_key keys[ORDER_KEY_COUNT];
	size_t nr;
};

/* Which keys decide between lines without being asked for. */
enum line_order {
	LINES_BY_KEYS,     /* the samples, then the report's keys as they come */
	LINES_BY_FUNCTION, /* OProfile's: all that --sort knows, in its order */
	LINES_UNSORTED
};

/* Adds the keys of a comma list; one given before counts where it stood.  0 or -EINVAL with
 * a one-line reason, which names --by where only that knows the key. */
int order_parse(struct order *order, const char *list, struct err *err);
bool order_has(const struct order *order, enum order_key key);
/* The key of a report that a key of --sort orders by; KEY_ID_COUNT: none. */
enum key_id order_key_id(enum order_key key);
const char *order_key_name(enum order_key key);
/* What decides before the number of samples, and what behind it.  Keys of `without`, bits
 * of 1 << enum key_id, do not. */
void order_resolve(const struct order *order, enum line_order usual,
		   unsigned int without, const struct profile *p,
		   struct tie_keys *before, struct tie_keys *after);
