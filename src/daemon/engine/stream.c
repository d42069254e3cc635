/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream.c - feeds the daemon's samples to the control file `buffer`, and resolves its cookies to
 * binaries. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"
#include "daemon/engine/engine.h"
#include "daemon/server/control_line.h"
#include "daemon/server/control_server.h"
#include "daemon/server/event_stream.h"
#include "format/session/dict.h"
#include "format/session/session.h"
#include "record/recorder.h"
#include "resolve/elf/build_id.h"

enum {
	/* in cookies_by_image: the cookie is not looked up yet */
	NOT_KNOWN = 0
};

/* ---- locations ---- */

static bool oprofiled_stream_is_kernel(enum image_kind kind)
{
	return kind == IMAGE_KERNEL || kind == IMAGE_MODULE || kind == IMAGE_BPF ||
	       kind == IMAGE_KERNEL_UNMAPPED || kind == IMAGE_GUEST_KERNEL ||
	       kind == IMAGE_HYPERVISOR;
}

static bool oprofiled_stream_is_file(enum image_kind kind)
{
	return kind == IMAGE_FILE || kind == IMAGE_VDSO;
}

/* Returns the cookie of an image, and caches it by the image's number, which is valid for one
 * recording only. */
static uint64_t cookie_of(struct oprofiled_stream *s, const struct dict *dict,
			  uint32_t number)
{
	const struct image *image;
	uint64_t *known;

	if (number == DICT_NONE)
		return EVENT_NO_COOKIE;
	image = &dict->images.at[number];
	if (!oprofiled_stream_is_file(image->kind))
		return EVENT_NO_COOKIE;
	while (s->cookies_by_image.nr <= number)
		if (!vec_push(&s->cookies_by_image, NOT_KNOWN))
			return EVENT_INVALID_COOKIE;
	known = &s->cookies_by_image.at[number];
	if (*known == NOT_KNOWN)
		*known = event_cookie(&s->cookies, dict_str(dict, image->name), image);
	return *known;
}

/* Stores the location of a frame. Returns false if its address lies in no known mapping, or if its
 * file cannot get a cookie. */
static bool oprofiled_stream_find_position(struct oprofiled_stream *s,
					   const struct dict *dict,
					   const struct frame *frame, bool *ret_kernel,
					   struct event_position *ret_position)
{
	const struct image *image = &dict->images.at[frame->image];

	*ret_kernel = oprofiled_stream_is_kernel(image->kind);
	*ret_position = (struct event_position){ .offset = frame->offset };
	if (oprofiled_stream_is_file(image->kind)) {
		ret_position->cookie = cookie_of(s, dict, frame->image);
		return ret_position->cookie != EVENT_INVALID_COOKIE;
	}
	if (image->kind == IMAGE_ANON)
		ret_position->offset += image->start - image->ref_address;
	else
		ret_position->offset += image->start;
	return image->kind != IMAGE_UNMAPPED && image->kind != IMAGE_LOST;
}

/* Stores the sample's own location and those of its callers that have one.  Returns false if its
 * own location is unknown. */
static bool oprofiled_stream_find_positions(struct oprofiled_stream *s,
					    const struct dict *dict, uint32_t node,
					    struct event_sample *sample)
{
	for (; node >= STACK_FIRST && node < dict->stacks.nr &&
	       sample->nr < s->max_positions;
	     node = dict->stacks.at[node].parent) {
		uint32_t frame = dict->stacks.at[node].frame;
		bool in_kernel;

		if (oprofiled_stream_find_position(s, dict, &dict->frames.at[frame],
						   &in_kernel,
						   &s->positions[sample->nr])) {
			sample->nr_kernel += in_kernel;
			sample->nr++;
		} else if (!sample->nr) {
			return false;
		}
	}
	return sample->nr;
}

static void oprofiled_stream_take(void *ctx, const struct dict *dict,
				  const struct sample *sample)
{
	struct oprofiled *d = ctx;
	struct oprofiled_stream *s = &d->stream;
	const struct thread *thread = &dict->threads.at[sample->thread];
	struct event_sample event = {
		.cpu = sample->cpu,
		.counter = sample->event < CONTROL_COUNTERS ? s->counters[sample->event]
							    : sample->event,
		.tid = thread->tid,
		.pid = thread->pid,
		.is_trace = s->max_positions > 1,
		.positions = s->positions,
	};

	if (!d->server || !control_server_readers(d->server))
		return;
	event.app_cookie = cookie_of(s, dict, thread->app);
	if (oprofiled_stream_find_positions(s, dict, sample->stack, &event))
		control_server_put_sample(d->server, &event);
	else
		s->nr_nowhere++;
}

/* ---- life cycle ---- */

void oprofiled_stream_attach(struct oprofiled *d, struct recorder_config *config)
{
	config->on_sample = oprofiled_stream_take;
	config->ctx = d;
}

void oprofiled_stream_begin(struct oprofiled *d)
{
	struct oprofiled_stream *s = &d->stream;
	uint64_t depth =
		daemonrc_number(&d->setup, "CALLGRAPH", EVENT_POSITIONS_MAX - 1);
	uint32_t nr = 0;

	s->cookies_by_image.nr = 0;
	s->max_positions =
		depth < EVENT_POSITIONS_MAX ? (size_t)depth + 1 : EVENT_POSITIONS_MAX;
	/* The events are those of the enabled counters, in order. */
	for (uint32_t i = 0; i < CONTROL_COUNTERS; i++)
		if (d->keys.counters[i].enabled)
			s->counters[nr++] = i;
	for (; nr < CONTROL_COUNTERS; nr++)
		s->counters[nr] = nr;
}

int oprofiled_stream_open(struct oprofiled *d)
{
	uint64_t words = daemonrc_number(&d->setup, "BUF_SIZE", 0);

	if (!control_server_readers(d->server)) {
		event_cookies_tidy(&d->stream.cookies);
		d->stream.cookies_by_image.nr = 0;
	}
	if (!words)
		words = EVENT_WORDS_DEFAULT;
	return words < EVENT_WORDS_MAX ? (int)words : EVENT_WORDS_MAX;
}

int oprofiled_stream_cookie(const struct oprofiled *d, const char *number,
			    struct buf *reply, struct err *err)
{
	const struct event_binary *binary = NULL;
	char hex[2 * BUILD_ID_MAX + 1];
	uint64_t cookie;

	if (parse_u64(number, &cookie))
		binary = event_cookie_find(&d->stream.cookies, cookie);
	if (!binary)
		return err_set(err, -ENOENT, "no binary has the cookie %.24s", number);
	/* Not control_put_field(), because a path can be longer than its limit. */
	buf_put(reply, "path ", strlen("path "));
	control_put_value(reply, binary->path);
	buf_put_u8(reply, '\n');
	if (binary->build_id.len) {
		build_id_to_hex(&binary->build_id, hex);
		control_put_field(reply, "build_id", "%s", hex);
	}
	return 0;
}

void oprofiled_stream_done(struct oprofiled *d)
{
	event_cookies_done(&d->stream.cookies);
	vec_done(&d->stream.cookies_by_image);
}
