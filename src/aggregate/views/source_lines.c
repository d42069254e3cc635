/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/views/view.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/lines.h"

enum {
	FRAMES_MAX = 1, /* only the innermost frame is needed */
	CHAIN_MAX = 32,
	ADDRS_A_POSITION = 2
};

/* The text that OProfile prints for code without a line. */
static const char unknown[] = "(no location information)";

void source_lines_init(struct source_lines *s, struct profile *p, struct view *v)
{
	*s = (struct source_lines){ .p = p, .view = v, .image = DICT_NONE };
}

static void source_lines_close_image(struct source_lines *s)
{
	naming_lines_close(s->open);
	s->open = NULL;
	s->image = DICT_NONE;
}

void source_lines_done(struct source_lines *s)
{
	source_lines_close_image(s);
	buf_done(&s->text);
}

static bool has_vma(const struct profile *p, uint32_t function)
{
	enum function_kind kind;

	if (function >= p->functions.nr)
		return false;
	kind = p->functions.at[function].kind;
	return kind == FUNCTION_NAMED || kind == FUNCTION_UNNAMED;
}

/* Reads the lines of all needed addresses together. */
static int source_lines_prepare(struct source_lines *s, size_t from, size_t end,
				const uint32_t *where)
{
	const struct view *v = s->view;
	bool functions = keys_find(s->p->options.keys, KEY_FUNCTION_LINE) >= 0;
	uint64_t *addrs = malloc((end - from + 1) * ADDRS_A_POSITION * sizeof(*addrs));
	uint32_t last = DICT_NONE;
	size_t nr = 0;

	if (!addrs)
		return -ENOMEM;
	for (size_t i = from; i < end; i++) {
		const struct position *position = &v->positions.at[v->order[i]];

		if (where[v->order[i]] == DICT_NONE)
			continue;
		if (s->p->needs & NEED_ADDRESS)
			addrs[nr++] = position->address;
		if (functions && position->function != last &&
		    has_vma(s->p, position->function))
			addrs[nr++] = s->p->functions.at[position->function].vma;
		last = position->function;
	}
	naming_lines_prepare(s->open, addrs, nr);
	free(addrs);
	return 0;
}

static int note_sections(struct profile *p, struct profile_image *image,
			 const struct naming_code *code)
{
	struct profile_section *all = calloc(code->nr_sections, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < code->nr_sections; i++) {
		all[i].name = strtab_add(&p->strings, code->sections[i].section);
		all[i].address = code->sections[i].address;
		if (all[i].name == STRTAB_FAILED) {
			free(all);
			return -ENOMEM;
		}
	}
	image->sections = all;
	image->nr_sections = code->nr_sections;
	return 0;
}

static int note_bytes(struct profile *p, struct profile_image *image,
		      const struct naming_code *code)
{
	image->machine = strtab_add(&p->strings, code->machine);
	image->bytes = malloc(code->nr_bytes + 1);
	if (!image->bytes || image->machine == STRTAB_FAILED)
		return -ENOMEM;
	memcpy(image->bytes, code->bytes, code->nr_bytes);
	image->nr_bytes = code->nr_bytes;
	image->start = code->start;
	return 0;
}

/* Records where the code of the open image is.  If images share a number in the profile, the
 * first one counts. */
static int note_code(struct source_lines *s)
{
	uint32_t number = s->view->image_of[s->image];
	struct profile *p = s->p;
	struct profile_image *image;
	struct naming_code code;

	if (number == VIEW_UNSET) /* an image gets a number only with functions */
		return 0;
	image = &p->images.at[number];
	naming_lines_code(s->open, &code);
	if (code.bytes && !image->bytes)
		return note_bytes(p, image, &code);
	if (image->binary || !code.path)
		return 0;
	image->shift = code.shift;
	image->binary = strtab_add(&p->strings, code.path);
	image->debug = strtab_add(&p->strings, code.debug_path ? code.debug_path : "");
	if (image->binary == STRTAB_FAILED || image->debug == STRTAB_FAILED)
		return -ENOMEM;
	return code.nr_sections ? note_sections(p, image, &code) : 0;
}

int source_lines_begin(struct source_lines *s, size_t at, const uint32_t *where)
{
	const struct view *v = s->view;
	uint32_t image = v->positions.at[v->order[at]].image;
	bool lines = s->p->needs & NEED_LINES;
	size_t end = at;
	int r;

	source_lines_close_image(s);
	s->image = image;
	while (end < v->positions.nr && v->positions.at[v->order[end]].image == image)
		end++;
	if (image == DICT_NONE || !v->source.naming || (lines && !s->p->options.lines))
		return 0;
	r = naming_lines_open(v->source.naming, image,
			      lines ? s->p->options.lines : NULL, &s->open);
	if (!r && s->open && s->p->options.code)
		r = note_code(s);
	return r || !s->open || !lines ? r : source_lines_prepare(s, at, end, where);
}

static uint32_t source_lines_add(struct source_lines *s)
{
	return s->text.failed ? STRTAB_FAILED
			      : strtab_add(&s->p->strings, (const char *)s->text.data);
}

static void source_lines_put(struct source_lines *s, const char *text)
{
	buf_put(&s->text, text, strlen(text));
}

/* Returns the function's name in the symbol table, or NULL. */
static const char *raw_name(const struct source_lines *s, uint32_t function)
{
	return has_vma(s->p, function)
		       ? strtab_get(&s->p->strings, s->p->functions.at[function].raw)
		       : NULL;
}

static uint32_t source_lines_add_position(struct source_lines *s, const char *file,
					  uint32_t line)
{
	buf_clear(&s->text);
	source_lines_put(s, file);
	source_lines_put(s, ":");
	buf_put_decimal(&s->text, line);
	buf_put_u8(&s->text, 0);
	return source_lines_add(s);
}

/* Returns "path:12"; for code with a symbol but no lines "name.c:0". */
static uint32_t source_lines_line_at(struct source_lines *s, uint64_t addr,
				     uint32_t function, bool with_number)
{
	struct line_frame frame = { 0 };
	size_t nr = s->open ? naming_lines_find_in(s->open, addr, raw_name(s, function),
						   &frame, FRAMES_MAX)
			    : 0;
	const char *file = nr ? frame.file : NULL;

	if (!file && s->open)
		file = naming_lines_symbol_file(s->open, addr);
	if (!file)
		return strtab_add(&s->p->strings, unknown);
	if (with_number)
		return source_lines_add_position(s, file, frame.line);
	buf_clear(&s->text);
	source_lines_put(s, file);
	buf_put_u8(&s->text, 0);
	return source_lines_add(s);
}

/* Returns the line where the function at `addr` begins: that of its first instruction, or its
 * own declaration if that instruction is of an inlined function. */
static uint32_t start_at(struct source_lines *s, uint64_t addr, uint32_t function)
{
	struct line_frame frames[CHAIN_MAX];
	size_t nr = s->open ? naming_lines_find_in(s->open, addr, raw_name(s, function),
						   frames, CHAIN_MAX)
			    : 0;
	const struct line_frame *own = nr ? &frames[nr - 1] : NULL;

	if (nr > 1 && frames[0].inlined && !own->inlined && own->decl_file &&
	    own->decl_line)
		return source_lines_add_position(s, own->decl_file, own->decl_line);
	return source_lines_line_at(s, addr, function, true);
}

/* Looks up the line of a function once. */
static uint32_t function_line(struct source_lines *s, uint32_t function)
{
	struct profile_function *f;

	if (!has_vma(s->p, function))
		return strtab_add(&s->p->strings, unknown);
	f = &s->p->functions.at[function];
	if (f->line == DICT_NONE)
		f->line = start_at(s, f->vma, function);
	return f->line;
}

static uint32_t source_lines_inlined_name(struct source_lines *s,
					  const struct position *position)
{
	struct line_frame frame = { 0 };
	size_t nr = s->open ? naming_lines_find(s->open, position->address, &frame,
						FRAMES_MAX)
			    : 0;
	char *shown;

	if (!nr || !frame.inlined || !frame.name) {
		if (position->function >= s->p->functions.nr)
			return strtab_add(&s->p->strings, unknown);
		if (!profile_function_name(s->p, position->function))
			return STRTAB_FAILED;
		return s->p->functions.at[position->function].shown;
	}
	shown = frame.linkage ? profile_name_to_show(s->p, frame.name) : NULL;
	buf_clear(&s->text);
	source_lines_put(s, shown ? shown : frame.name);
	source_lines_put(s, " (inlined)");
	buf_put_u8(&s->text, 0);
	free(shown);
	return source_lines_add(s);
}

uint32_t source_lines_value(struct source_lines *s, const struct position *position,
			    enum key_id key)
{
	if (key == KEY_INLINE)
		return source_lines_inlined_name(s, position);
	if (key == KEY_FUNCTION_LINE)
		return function_line(s, position->function);
	return source_lines_line_at(s, position->address, position->function,
				    key == KEY_LINE);
}
