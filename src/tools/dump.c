/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump.c - `oprofile dump`: prints every sample of a session as a line of text. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/selection/image_names.h"
#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "format/session/session.h"
#include "present/lines/screen.h"
#include "recordings/no_match.h"
#include "recordings/sources.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_dump;

struct dump_state {
	const char *session_dir;
	bool force;
	struct spec spec;
	struct report_sources sources;
	struct buf line;
	uint64_t written, skipped;
	bool incomplete;
};

static const struct option_row rows[] = {
	SESSION_DIR_OPTION_ROW(struct dump_state),
	FORCE_OPTION_ROW(struct dump_state, 0),
	{ 0 },
};

static void dump_put_frame(struct buf *out, const struct dict *d, uint32_t number)
{
	static const struct image damaged = { .kind = IMAGE_LOST };
	const struct frame *f = number < d->frames.nr ? &d->frames.at[number] : NULL;
	const struct image *image =
		f && f->image < d->images.nr ? &d->images.at[f->image] : &damaged;
	char offset[32];
	int len;

	image_name_put(out, d, image, NAMES_PERF, "");
	if (!out->failed)
		out->len--; /* drop the NUL */
	len = snprintf(offset, sizeof(offset), "+0x%" PRIx64, f ? f->offset : 0);
	buf_put(out, offset, (size_t)len);
}

/* Appends the functions of a stack, the innermost first, separated by semicolons. */
static void dump_put_stack(struct buf *out, const struct dict *d, uint32_t stack)
{
	static const char truncated[] = "[truncated]";
	bool first = true;

	while (stack >= STACK_FIRST && stack < d->stacks.nr) {
		const struct stack *node = &d->stacks.at[stack];

		if (!first)
			buf_put_u8(out, ';');
		dump_put_frame(out, d, node->frame);
		first = false;
		/* Callers have lower numbers than callees. Stop at any other node, which would be
		 * a cycle. */
		if (node->parent >= stack)
			return;
		stack = node->parent;
	}
	if (stack != STACK_TRUNCATED)
		return;
	if (!first)
		buf_put_u8(out, ';');
	buf_put(out, truncated, sizeof(truncated) - 1);
}

static void dump_put_sample(struct buf *out, const struct segment *s,
			    const struct sample_batch *b, size_t i)
{
	const struct dict *d = segment_dict(s);
	int32_t tid =
		b->thread[i] < d->threads.nr ? d->threads.at[b->thread[i]].tid : -1;
	const char *event = b->event[i] < d->events.nr
				    ? dict_str(d, d->events.at[b->event[i]].name)
				    : "[damaged]";
	size_t from = out->len;
	char text[160];
	int len = snprintf(text, sizeof(text),
			   "%" PRId32 " %" PRId32 " %" PRIu64 ".%07" PRIu64
			   " %.64s %" PRIu64 " ",
			   tid, (int32_t)b->cpu[i], b->time_ns[i] / NS_PER_S,
			   b->time_ns[i] % NS_PER_S / 100, event, b->period[i]);

	buf_put(out, text, (size_t)len);
	dump_put_stack(out, d, b->stack[i]);
	screen_make_safe(out, from);
	buf_put_u8(out, '\n');
}

static int dump_batches(struct dump_state *dump, struct segment *s,
			struct selection *selection, struct err *err)
{
	for (;;) {
		struct sample_batch b;
		int r = segment_next(s, COLUMN_ALL, &b, err);

		if (r)
			return r < 0 ? r : 0;
		for (size_t i = 0; i < b.nr; i++) {
			r = selection_wants_sample(selection, &b, i);
			if (!r) {
				dump->skipped++;
				continue;
			}
			buf_clear(&dump->line);
			dump_put_sample(&dump->line, s, &b, i);
			if (r < 0 || dump->line.failed)
				return err_set(err, -ENOMEM, "out of memory");
			fwrite(dump->line.data, 1, dump->line.len, stdout);
			dump->written++;
		}
	}
}

static int dump_segment(struct dump_state *dump, const char *path, enum trust trust,
			struct session_span *span, struct err *err)
{
	struct selection selection;
	struct segment *s;
	int r = segment_open(path, trust, &s, err);

	if (r)
		return r;
	selection_init(&selection, &dump->spec, segment_dict(s),
		       segment_info(s)->vmlinux);
	if (!span->start_ns)
		span->start_ns = segment_info(s)->start_ns;
	session_span_set_wall(span, segment_info(s));
	if (selection_set_times(&selection, span))
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = dump_batches(dump, s, &selection, err);
	selection_done(&selection);
	if (!r) {
		const struct segment_damage *d = segment_damage(s);

		dump->incomplete |= segment_damage_any(d);
		if (d->unfinished || d->bad_blocks || d->cut_bytes || d->bad_samples)
			command_warning(
				"'%s': incomplete: %" PRIu64 " blocks damaged, %" PRIu64
				" bytes cut off, %" PRIu64
				" samples without their data%s",
				path, d->bad_blocks, d->cut_bytes, d->bad_samples,
				d->unfinished ? ", not finished" : "");
	}
	segment_close(s);
	return r;
}

static int dump_session(struct dump_state *dump, const struct report_session *from,
			struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int r = session_list(from->dir, &paths, &nr, err);

	if (r)
		return r;
	if (spec_has_shares(&dump->spec) &&
	    session_span_read(paths, nr, from->trust, &span))
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < nr; i++)
		r = dump_segment(dump, paths[i], from->trust, &span, err);
	session_list_free(paths, nr);
	return r;
}

/* Checks that the specification selects some sample, unless the session has no samples. Returns 0,
 * or a negative errno with a message in *err. */
static int dump_check_found(const struct dump_state *dump, struct err *err)
{
	if (dump->written || !dump->skipped)
		return 0;
	return no_match_error(&dump->sources, &dump->spec, err);
}

static int dump_all(struct dump_state *dump, char *const *words, struct err *err)
{
	int r;

	dump->sources.trust = report_trust(dump->force);
	r = report_sources_find(dump->session_dir, words, &dump->spec, &dump->sources,
				err);

	if (!r && spec_has_symbols(&dump->spec))
		r = err_set(err, -EINVAL,
			    "symbol: a dump contains no symbol names: use opreport");
	for (size_t i = 0; !r && i < dump->sources.sessions.nr; i++) {
		const struct report_session *s = &dump->sources.sessions.at[i];

		r = s->perf_data
			    ? err_set(err, -EINVAL,
				      "'%s' is not a session: `oprofile script %s` shows the samples of a perf.data file, or import it",
				      s->dir, s->dir)
			    : dump_session(dump, s, err);
	}
	if (!r)
		r = dump_check_found(dump, err);
	mistaken_word_say(&dump->sources, &dump->spec, r);
	return r;
}

static int dump_run(const struct command *self, int argc, char **argv)
{
	struct dump_state dump = { 0 };
	struct err err = { 0 };
	int first;
	int status;

	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &dump, &first);
	if (status >= 0)
		return status;
	if (dump_all(&dump, argv + first, &err)) {
		command_error("%s", err.text);
		status = 1;
	} else {
		status = dump.incomplete ? STATUS_INCOMPLETE : 0;
	}
	report_sources_done(&dump.sources);
	spec_done(&dump.spec);
	buf_done(&dump.line);
	return status;
}

const struct command command_dump = {
	.name = "dump",
	.summary = "show the records of a session one by one",
	.usage = "[options] [SESSION-DIR | profile specification...]",
	.notes =
		"A line is: tid cpu seconds event period frame;frame;... with the leaf first and each frame as image+0xoffset; [truncated] ends a stack whose outer callers are unknown.",
	.options = rows,
	.run = dump_run,
};
