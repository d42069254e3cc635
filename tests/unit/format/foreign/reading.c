/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/err.h"
#include "unit.h"

enum {
	TEXT_MAX = 1 << 16
};

static char reading_text[TEXT_MAX];
static size_t reading_len;

static void reading_put(const char *at, size_t len)
{
	assert_true(reading_len + len < sizeof(reading_text));
	if (len)
		memcpy(reading_text + reading_len, at, len);
	reading_len += len;
	reading_text[reading_len] = 0;
}

static void reading_put_text(const char *text)
{
	reading_put(text, strlen(text));
}

static int reading_hear(void *ctx, const struct foreign_sample *s)
{
	char numbers[160];

	(void)ctx;
	reading_put(s->event.at, s->event.len);
	reading_put_text(" ");
	reading_put(s->comm.at, s->comm.len);
	snprintf(numbers, sizeof(numbers),
		 " %" PRId64 "/%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ":",
		 s->pid, s->tid, s->time_ns, s->count, s->period);
	reading_put_text(numbers);
	for (size_t i = 0; i < s->nr_frames; i++) {
		reading_put_text(" ");
		reading_put(s->frames[i].name.at, s->frames[i].name.len);
		reading_put_text("(");
		reading_put(s->frames[i].image.at, s->frames[i].image.len);
		reading_put_text(")");
	}
	reading_put_text(s->truncated ? " [truncated]\n" : "\n");
	return 0;
}

static int reading_ignore(void *ctx, const struct foreign_sample *s)
{
	*(uint64_t *)ctx += s->count;
	return 0;
}

static int reading_stop(void *ctx, const struct foreign_sample *s)
{
	(void)s;
	++*(int *)ctx;
	return -ECANCELED;
}

const char *reading_samples(reading_fn read, const void *bytes, size_t len)
{
	struct foreign_info info = { 0 };
	struct err err = { 0 };
	int r;

	reading_len = 0;
	reading_text[0] = 0;
	r = read(bytes, len, reading_hear, NULL, &info, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(r, 0);
	return reading_text;
}

void reading_check(const struct reading *want)
{
	struct foreign_info info = { 0 };
	struct err err = { 0 };
	int nr = 0;

	assert_string_equal(reading_samples(want->read, want->bytes, want->len),
			    want->samples);
	assert_int_equal(
		want->read(want->bytes, want->len, reading_hear, NULL, &info, &err), 0);
	assert_int_equal(info.skipped, want->skipped);
	assert_int_equal(info.cut, want->cut);
	assert_int_equal(info.contradictions, want->contradictions);
	assert_int_equal(info.lost, want->lost);
	assert_int_equal(
		want->read(want->bytes, want->len, reading_stop, &nr, &info, &err),
		-ECANCELED);
	assert_int_equal(nr, 1);
}

static void reading_try(const struct reading *r, const uint8_t *bytes, size_t len)
{
	struct foreign_info info = { 0 };
	struct err err = { 0 };
	uint64_t samples = 0;
	int result = r->read(bytes, len, reading_ignore, &samples, &info, &err);

	assert_true(!result ||
		    ((result == -EBADMSG || result == -E2BIG) && err.text[0]));
}

static void reading_check_memory(const struct reading *r)
{
	for (unsigned long n = 1;; n++) {
		struct foreign_info info = { 0 };
		uint64_t samples = 0;
		int result;

		alloc_fail_at(n);
		result = r->read(r->bytes, r->len, reading_ignore, &samples, &info,
				 NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(result, 0);
			return;
		}
		assert_int_equal(result, -ENOMEM);
	}
}

void reading_check_damage(const struct reading *r)
{
	uint8_t *copy;

	for (size_t cut = 0; cut <= r->len; cut++) {
		uint8_t *part = malloc(cut + !cut);

		assert_non_null(part);
		memcpy(part, r->bytes, cut);
		reading_try(r, part, cut);
		free(part);
	}
	copy = malloc(r->len);
	assert_non_null(copy);
	memcpy(copy, r->bytes, r->len);
	for (size_t i = 0; i < r->len; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			copy[i] ^= (uint8_t)(1 << bit);
			reading_try(r, copy, r->len);
			copy[i] ^= (uint8_t)(1 << bit);
		}
	free(copy);
	reading_check_memory(r);
}

void reading_refuses(reading_fn read, const char *text, const char *why)
{
	struct foreign_info info = { 0 };
	struct err err = { 0 };
	uint64_t samples = 0;

	assert_int_equal(
		read(text, strlen(text), reading_ignore, &samples, &info, &err),
		-EBADMSG);
	assert_non_null(strstr(err.text, why));
}
