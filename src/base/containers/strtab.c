/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/strtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"

int strtab_init(struct strtab *t)
{
	*t = (struct strtab){ 0 };
	return strtab_add(t, "") == STRTAB_FAILED ? -ENOMEM : 0;
}

/* Returns the number, plus 1, of the string with that hash and probe number, or 0 if not found. */
static uint32_t strtab_lookup(const struct strtab *t, uint64_t key)
{
	return pairs_get(&t->by_hash, (uint32_t)(key >> 32), (uint32_t)key);
}

/* Returns the number of the string, or STRTAB_FAILED if it is not found; *ret_key is then a free
 * key. */
static uint32_t find_len(const struct strtab *t, const char *s, size_t len,
			 uint64_t hash, uint64_t *ret_key)
{
	uint64_t key = hash;
	uint32_t number_plus_1;

	while ((number_plus_1 = strtab_lookup(t, key))) {
		const char *have = t->strings.at[number_plus_1 - 1];

		if (!strncmp(have, s, len) && !have[len])
			break;
		key++;
	}
	*ret_key = key;
	return number_plus_1 ? number_plus_1 - 1 : STRTAB_FAILED;
}

uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len)
{
	uint32_t *number_plus_1;
	uint32_t number;
	uint64_t hash;
	uint64_t key;
	bool is_new;
	char *copy;

	len = strnlen(s, len); /* a string of a file can contain a NUL */
	hash = hash_bytes(s, len, 0);
	number = find_len(t, s, len, hash, &key);
	if (number != STRTAB_FAILED)
		return number;
	copy = strndup(s, len);
	if (!copy)
		return STRTAB_FAILED;
	number = (uint32_t)t->strings.nr;
	if (!vec_push(&t->strings, copy)) {
		free(copy);
		return STRTAB_FAILED;
	}
	number_plus_1 =
		pairs_at(&t->by_hash, (uint32_t)(key >> 32), (uint32_t)key, &is_new);
	if (!number_plus_1) {
		t->strings.nr--;
		free(copy);
		return STRTAB_FAILED;
	}
	*number_plus_1 = number + 1;
	return number;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_add_len(t, s, strlen(s));
}

uint32_t strtab_find(const struct strtab *t, const char *s)
{
	size_t len = strlen(s);
	uint64_t key;

	return find_len(t, s, len, hash_bytes(s, len, 0), &key);
}

const char *strtab_get(const struct strtab *t, uint32_t number)
{
	return number < t->strings.nr ? t->strings.at[number] : "";
}

void strtab_done(struct strtab *t)
{
	for (size_t i = 0; i < t->strings.nr; i++)
		free(t->strings.at[i]);
	vec_done(&t->strings);
	pairs_done(&t->by_hash);
}
