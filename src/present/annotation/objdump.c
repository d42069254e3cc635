/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/objdump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "present/annotation/annotate_margin.h"
#include "present/annotation/annotation.h"
#include "present/annotation/assembly.h"
#include "present/annotation/source_text.h"
#include "present/lines/screen.h"

enum {
	OWN_ARGS = 8, /* number of arguments in addition to the user's parameters */
	ADDRESS_MAX = 48
};

int annotate_objdump_init(struct annotate_objdump *o, const char *params, bool mixed,
			  struct err *err)
{
	size_t nr = 0;
	char *rest;

	*o = (struct annotate_objdump){ .mixed = mixed };
	o->text = strdup(params);
	o->params = o->text ? calloc(strlen(params) / 2 + 2, sizeof(*o->params)) : NULL;
	if (!o->params)
		return err_set(err, -ENOMEM, "out of memory");
	for (char *word = strtok_r(o->text, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest))
		o->params[nr++] = word;
	return 0;
}

void annotate_objdump_done(struct annotate_objdump *o)
{
	free(o->params);
	free(o->text);
	*o = (struct annotate_objdump){ 0 };
}

/* ---- the program ---- */

static int annotate_objdump_spawn(char *const *argv, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	int r;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
					 0);
	r = posix_spawnp(ret_pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return -r;
}

static int annotate_objdump_read_all(int fd, struct buf *out)
{
	int r = io_read_fd(fd, out, SIZE_MAX);

	close(fd);
	if (!r)
		buf_put_u8(out, 0);
	return r || out->failed ? -ENOMEM : 0;
}

/* Runs objdump and reads its output. Returns 0, 1 if objdump failed, or -ENOMEM. */
static int annotate_objdump_run(char *const *argv, struct buf *out)
{
	int ends[2], status, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return 1;
	r = annotate_objdump_spawn(argv, ends[1], &pid);
	close(ends[1]);
	if (r) {
		close(ends[0]);
		return 1;
	}
	r = annotate_objdump_read_all(ends[0], out);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (r)
		return r;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : 1;
}

static int disassemble(const struct annotate_objdump *o, const struct assembly *s,
		       const struct profile_image *image, struct buf *out)
{
	const char *path = strtab_get(&s->a->p->strings, image->binary);
	char start[ADDRESS_MAX], stop[ADDRESS_MAX], moved[ADDRESS_MAX];
	char objdump[] = "objdump", flag[] = "-d", raw[] = "--no-show-raw-insn",
	     source[] = "-S", end[] = "--";
	char *file = strdup(path);
	size_t nr = 0, at = 0;
	char **argv;
	int r;

	while (o->params[nr])
		nr++;
	argv = calloc(nr + OWN_ARGS + 2, sizeof(*argv));
	if (!argv || !file) {
		free(argv);
		free(file);
		return -ENOMEM;
	}
	snprintf(start, sizeof(start), "--start-address=0x%" PRIx64,
		 s->rows.at[0].address);
	snprintf(stop, sizeof(stop), "--stop-address=0x%" PRIx64,
		 s->rows.at[s->rows.nr - 1].end);
	snprintf(moved, sizeof(moved), "--adjust-vma=0x%" PRIx64, image->shift);
	argv[at++] = objdump;
	argv[at++] = flag;
	argv[at++] = raw;
	if (o->mixed)
		argv[at++] = source;
	argv[at++] = start;
	argv[at++] = stop;
	if (image->shift)
		argv[at++] = moved;
	memcpy(argv + at, o->params, nr * sizeof(*argv));
	at += nr;
	argv[at++] = end;
	argv[at] = file;
	r = annotate_objdump_run(argv, out);
	free(argv);
	free(file);
	return r;
}

/* ---- parsing the output ---- */

struct text_line {
	const char *text;
	size_t len;
	bool is_insn;
	uint64_t address;
};

typedef VEC(struct text_line) text_lines;

static bool annotate_objdump_is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Parses an instruction such as "    1139:\tadd ...": the address is followed by a colon and a tab.
 * Returns false if the line has another form. */
static bool parse_insn(struct text_line *line)
{
	const char *at = line->text + strspn(line->text, " ");
	const char *digits = at;
	uint64_t address = 0;

	for (; annotate_objdump_is_hex(*at); at++)
		address = address << 4 |
			  (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	if (at == digits || at[0] != ':' || at[1] != '\t')
		return false;
	line->address = address;
	return true;
}

/* Returns whether the line is a symbol such as "0000000000001129 <leaf>:". */
static bool is_symbol(const struct text_line *line)
{
	const char *at = line->text;

	while (annotate_objdump_is_hex(*at))
		at++;
	return at > line->text && at[0] == ' ' && at[1] == '<' && line->len > 2 &&
	       line->text[line->len - 1] == ':';
}

/* Splits the output into lines. Skips those up to and including the first symbol, which name the
 * file and the function, because the caller has already printed both. */
static int annotate_objdump_split(const struct buf *out, text_lines *lines)
{
	bool begun = false;

	for (const char *at = (const char *)out->data; at && *at;) {
		const char *end = strchr(at, '\n');
		struct text_line line = { .text = at };

		line.len = end ? (size_t)(end - at) : strlen(at);
		line.len = source_line_len(at, line.len);
		line.is_insn = parse_insn(&line);
		at = end ? end + 1 : NULL;
		if (!begun) {
			begun = is_symbol(&line);
			continue;
		}
		if (!vec_push(lines, line))
			return -ENOMEM;
	}
	return 0;
}

struct annotate_objdump_listing {
	FILE *out;
	const struct assembly *s;
	size_t hit;
	size_t end;
	uint64_t *counts;
	uint64_t *shown;
};

/* Sets l->counts to the samples at addresses before `before` that were not printed yet, and adds
 * them to the shown samples. Returns whether there were any. */
static bool take_hits(struct annotate_objdump_listing *l, uint64_t before)
{
	const struct annotation *a = l->s->a;
	size_t from = l->hit;

	memset(l->counts, 0, a->nr_counts * sizeof(*l->counts));
	for (; l->hit < l->end && l->s->hits.at[l->hit].address < before; l->hit++) {
		for (size_t c = 0; c < a->nr_counts; c++) {
			l->counts[c] += l->s->hits.at[l->hit].counts[c];
			l->shown[c] += l->s->hits.at[l->hit].counts[c];
		}
	}
	return l->hit > from;
}

static uint64_t next_address(const text_lines *lines, size_t at, uint64_t end)
{
	while (++at < lines->nr)
		if (lines->at[at].is_insn)
			return lines->at[at].address;
	return end;
}

static void annotate_objdump_put_all(struct annotate_objdump_listing *l,
				     const text_lines *lines)
{
	static const struct screen plain;
	const struct assembly *s = l->s;
	uint64_t end = s->rows.at[s->rows.nr - 1].end;

	for (size_t i = 0; i < lines->nr; i++) {
		const struct text_line *line = &lines->at[i];
		bool any = line->is_insn && take_hits(l, next_address(lines, i, end));

		margin_put(l->out, s->a, &plain, any ? l->counts : NULL);
		screen_write_code(l->out, line->text, line->len);
		fputc('\n', l->out);
	}
}

static int write_output(FILE *out, const struct assembly *s,
			const struct assembly_function *f, const struct buf *text,
			uint64_t *shown)
{
	struct annotate_objdump_listing l = { .out = out,
					      .s = s,
					      .hit = f->first_hit,
					      .end = f->first_hit + f->nr_hits,
					      .shown = shown };
	text_lines lines = { 0 };
	int r = annotate_objdump_split(text, &lines);

	l.counts = calloc(s->a->nr_counts + 1, sizeof(*l.counts));
	if (!l.counts)
		r = -ENOMEM;
	if (!r && lines.nr) {
		annotate_objdump_put_all(&l, &lines);
		r = 1;
	}
	free(l.counts);
	vec_done(&lines);
	return r;
}

int annotate_objdump_write(struct annotate_objdump *o, FILE *out,
			   const struct assembly *s,
			   const struct assembly_function *function, uint64_t *shown,
			   struct err *why_not)
{
	const struct profile_image *image = &s->a->p->images.at[function->image];
	const char *name = strtab_get(&s->a->p->strings, image->name);
	struct buf text = { 0 };
	int r;

	if (image->kind == IMAGE_JIT || image->nr_sections || image->bytes) {
		err_set(why_not, -EINVAL,
			"'%s' is not a program file: showing it without objdump", name);
		return 0;
	}
	if (o->failed)
		return 0;
	r = disassemble(o, s, image, &text);
	r = r ? (r > 0 ? 0 : r) : write_output(out, s, function, &text, shown);
	buf_done(&text);
	if (!r) {
		o->failed = true;
		err_set(why_not, -EIO,
			"An error occur during the execution of objdump: showing functions without it");
	}
	return r;
}
