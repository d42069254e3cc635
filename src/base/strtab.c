#include "base/strtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

int strtab_init(struct strtab *t)
{
	*t = (struct strtab){ 0 };
	return strtab_add(t, "") == STRTAB_FAILED ? -ENOMEM : 0;
}

static uint32_t find_len(const struct strtab *t, const char *s, size_t len,
			 uint64_t hash, uint64_t *ret_turn)
{
	uint64_t turn = 0;
	uint32_t number;

	while ((number = map_get(&t->by_hash, hash, turn)) != MAP_NONE) {
		const char *have = t->strings.at[number];

		if (!strncmp(have, s, len) && !have[len])
			break;
		turn++;
	}
	*ret_turn = turn;
	return number;
}

uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len)
{
	uint32_t number;
	uint64_t hash;
	uint64_t turn;
	char *copy;

	len = strnlen(s, len); /* a file may hold a NUL inside */
	hash = hash_bytes(s, len, 0);
	number = find_len(t, s, len, hash, &turn);
	if (number != MAP_NONE)
		return number;
	copy = strndup(s, len);
	if (!copy)
		return STRTAB_FAILED;
	number = (uint32_t)t->strings.nr;
	if (!vec_push(&t->strings, copy)) {
		free(copy);
		return STRTAB_FAILED;
	}
	if (map_set(&t->by_hash, hash, turn, number)) {
		t->strings.nr--;
		free(copy);
		return STRTAB_FAILED;
	}
	return number;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_add_len(t, s, strlen(s));
}

uint32_t strtab_find(const struct strtab *t, const char *s)
{
	size_t len = strlen(s);
	uint64_t turn;

	return find_len(t, s, len, hash_bytes(s, len, 0), &turn);
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
	map_done(&t->by_hash);
}
