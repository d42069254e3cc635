#include "aggregate/spec.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "base/parse.h"

struct tag_row {
	const char *name;
	enum spec_tag list;  /* of tags that are offered */
	const char *refusal; /* why it is not, else NULL */
};

#define LATER "comes with a later version"

static const struct tag_row tags[] = {
	{ .name = "image", .list = SPEC_IMAGE },
	{ .name = "session", .list = SPEC_SESSION },
	{ .name = "event", .list = SPEC_EVENT },
	{ .name = "comm", .list = SPEC_COMM },
	{ .name = "tid", .list = SPEC_TID },
	{ .name = "archive", .refusal = LATER },
	{ .name = "session-exclude", .refusal = LATER },
	{ .name = "image-exclude", .refusal = LATER },
	{ .name = "lib-image", .refusal = LATER },
	{ .name = "lib-image-exclude", .refusal = LATER },
	{ .name = "count", .refusal = LATER },
	{ .name = "unit-mask", .refusal = LATER },
	{ .name = "tgid", .refusal = LATER },
	{ .name = "cpu", .refusal = LATER },
	{ .name = "symbol", .refusal = LATER },
	{ .name = "time", .refusal = LATER },
	{ .name = "binary", .refusal = "is gone since OProfile 0.7: use image:" },
	{ .name = "sample-file",
	  .refusal = "is gone since OProfile 0.7: use session: and image:" },
};

enum {
	NR_TAGS = sizeof(tags) / sizeof(tags[0])
};

/* The length of the tag before a colon, 0 for a bare word. */
static size_t tag_length(const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz-_");

	return word[len] == ':' ? len : 0;
}

static int unknown_tag(const char *word, size_t len, struct err *err)
{
	char name[NEAREST_WORD_MAX];
	struct nearest near = { .word = name };

	if (len < sizeof(name)) {
		memcpy(name, word, len);
		name[len] = '\0';
		for (size_t i = 0; i < NR_TAGS; i++)
			nearest_try(&near, tags[i].name);
	}
	if (near.best)
		return err_set(
			err, -EINVAL,
			"unknown tag in profile specification '%s': did you mean "
			"'%s:'?",
			word, near.best);
	return err_set(err, -EINVAL,
		       "unknown tag in profile specification '%s' (a file of that name "
		       "is written image:./%s)",
		       word, word);
}

static void list_clear(struct spec_list *list)
{
	for (size_t i = 0; i < list->values.nr; i++)
		free(list->values.at[i]);
	vec_done(&list->values);
	free(list->text);
	list->text = NULL;
}

/* The next value of a comma list, unescaped and malloc'd; moves *text behind its comma, or
 * to NULL after the last one. */
static char *next_value(const char **text)
{
	const char *in = *text;
	char *value = malloc(strlen(in) + 1);
	size_t len = 0;

	if (!value)
		return NULL;
	for (; *in && *in != ','; in++) {
		if (in[0] == '\\' && in[1] == ',')
			in++;
		value[len++] = *in;
	}
	value[len] = '\0';
	*text = *in ? in + 1 : NULL;
	return value;
}

static int list_push(struct spec_list *list, char *value)
{
	if (value && vec_push(&list->values, value))
		return 0;
	free(value);
	return -ENOMEM;
}

/* A relative path also means the file it leads to from here. */
static int push_resolved(struct spec_list *list, const char *value)
{
	char *path;

	if (value[0] == '/' || !strchr(value, '/'))
		return 0;
	path = realpath(value, NULL);
	return path ? list_push(list, path) : 0;
}

static int list_fill(struct spec_list *list, enum spec_tag tag, const char *text)
{
	bool is_image = tag == SPEC_ANY_IMAGE || tag == SPEC_IMAGE;

	while (text) {
		char *value = next_value(&text);
		int r;

		if (value && !*value) {
			free(value);
			continue;
		}
		r = list_push(list, value);
		if (!r && is_image)
			r = push_resolved(list, value);
		if (r)
			return r;
	}
	return 0;
}

static int parse_tids(struct spec *spec, struct err *err)
{
	const struct spec_list *list = &spec->lists[SPEC_TID];

	spec->tids.nr = 0;
	for (size_t i = 0; i < list->values.nr; i++) {
		const char *value = list->values.at[i];
		bool minus = value[0] == '-';
		uint64_t number;

		if (!parse_u64_max(value + minus, INT32_MAX, &number))
			return err_set(err, -EINVAL, "tid: '%s' is not a thread id",
				       value);
		if (!vec_push(&spec->tids, minus ? -(int64_t)number : (int64_t)number))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* `all` is OProfile's spelling of "no restriction". */
static bool is_all(const struct spec_list *list, enum spec_tag tag)
{
	return (tag == SPEC_EVENT || tag == SPEC_TID) && list->values.nr == 1 &&
	       !strcmp(list->values.at[0], "all");
}

static int add_tagged(struct spec *spec, const struct tag_row *row, const char *word,
		      struct err *err)
{
	struct spec_list *list = &spec->lists[row->list];

	if (row->refusal)
		return err_set(err, -EINVAL, "profile specification '%s': %s: %s", word,
			       row->name, row->refusal);
	if (list->text && !strcmp(list->text, word))
		return err_set(err, -EINVAL, "tag specified more than once: %s", word);
	list_clear(list); /* of different values the last one wins */
	list->text = strdup(word);
	if (!list->text || list_fill(list, row->list, strchr(word, ':') + 1))
		return err_set(err, -ENOMEM, "out of memory");
	if (!list->values.nr && row->list == SPEC_SESSION)
		return err_set(err, -EINVAL, "No session given after session:");
	if (!list->values.nr)
		return err_set(err, -EINVAL, "nothing given after %s:", row->name);
	if (is_all(list, row->list)) {
		list_clear(list);
		list->text = strdup(word);
		if (!list->text)
			return err_set(err, -ENOMEM, "out of memory");
	}
	return row->list == SPEC_TID ? parse_tids(spec, err) : 0;
}

int spec_add(struct spec *spec, const char *word, struct err *err)
{
	size_t len = tag_length(word);

	if (strspn(word, "{}") == strlen(word) && *word)
		return err_set(
			err, -EINVAL,
			"differential profiles ({ } { }) come with a later version");
	if (!*word)
		return err_set(err, -EINVAL, "empty word in the profile specification");
	if (!len) {
		if (list_fill(&spec->lists[SPEC_ANY_IMAGE], SPEC_ANY_IMAGE, word))
			return err_set(err, -ENOMEM, "out of memory");
		return 0;
	}
	for (size_t i = 0; i < NR_TAGS; i++) {
		if (strlen(tags[i].name) == len && !strncmp(tags[i].name, word, len))
			return add_tagged(spec, &tags[i], word, err);
	}
	return unknown_tag(word, len, err);
}

void spec_done(struct spec *spec)
{
	for (size_t i = 0; i < SPEC_COUNT; i++)
		list_clear(&spec->lists[i]);
	vec_done(&spec->tids);
}

/* A word wholly in brackets is a name such as [vdso], not a set of letters. */
static bool matches(const char *pattern, const char *name)
{
	if (pattern[0] == '[' && strchr(pattern, ']') == pattern + strlen(pattern) - 1)
		return !strcmp(pattern, name);
	return !fnmatch(pattern, name, 0);
}

static bool list_wants(const struct spec_list *list, const char *name)
{
	for (size_t i = 0; i < list->values.nr; i++) {
		if (matches(list->values.at[i], name))
			return true;
	}
	return !list->values.nr;
}

bool spec_wants_event(const struct spec *spec, const char *name)
{
	return list_wants(&spec->lists[SPEC_EVENT], name);
}

bool spec_wants_comm(const struct spec *spec, const char *comm)
{
	return list_wants(&spec->lists[SPEC_COMM], comm);
}

bool spec_wants_tid(const struct spec *spec, int32_t tid)
{
	for (size_t i = 0; i < spec->tids.nr; i++) {
		if (spec->tids.at[i] == tid)
			return true;
	}
	return !spec->tids.nr;
}

bool spec_has_images(const struct spec *spec)
{
	return spec->lists[SPEC_ANY_IMAGE].values.nr ||
	       spec->lists[SPEC_IMAGE].values.nr;
}

static bool image_matches(const char *pattern, const struct image_names *image)
{
	bool bare = !strchr(pattern, '/');

	for (size_t i = 0; i < sizeof(image->names) / sizeof(image->names[0]); i++) {
		const char *name = image->names[i];
		const char *base;

		if (!name)
			continue;
		if (matches(pattern, name))
			return true;
		base = strrchr(name, '/');
		if (bare && base && matches(pattern, base + 1))
			return true;
	}
	return false;
}

static bool any_matches(const struct spec_list *list, const struct image_names *image)
{
	if (!image)
		return false;
	for (size_t i = 0; i < list->values.nr; i++) {
		if (image_matches(list->values.at[i], image))
			return true;
	}
	return false;
}

bool spec_wants_image(const struct spec *spec, const struct image_names *app,
		      const struct image_names *image, bool *ret_top)
{
	const struct spec_list *any = &spec->lists[SPEC_ANY_IMAGE];
	const struct spec_list *primary = &spec->lists[SPEC_IMAGE];
	bool top = false;
	bool wanted = true;

	if (any->values.nr) {
		bool hit = any_matches(any, image);

		wanted = hit || any_matches(any, app);
		top = hit && image->kernel;
	}
	if (wanted && primary->values.nr) {
		bool hit = image->kernel && any_matches(primary, image);

		wanted = hit || any_matches(primary, app);
		top |= hit;
	}
	*ret_top = wanted && top;
	return wanted;
}
