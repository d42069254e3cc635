#include "tools/addr2line_out.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/demangle.h"

static void put(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

/* The demangled name; each is made once, known by where the mangled one is. */
static const char *demangled(struct addr2line_out *o, const char *name)
{
	struct map_slot *slot;
	bool is_new;

	if (!o->demangle)
		return name;
	slot = map_at(&o->by_name, (uintptr_t)name, 0, &is_new);
	if (!slot)
		return name;
	if (is_new) {
		char *text = demangle(name);

		if (!vec_push(&o->demangled, text)) {
			free(text);
			return name;
		}
		slot->value_plus_1 = (uint32_t)o->demangled.nr;
	}
	if (!slot->value_plus_1 || !o->demangled.at[slot->value_plus_1 - 1])
		return name;
	return o->demangled.at[slot->value_plus_1 - 1];
}

static void put_function(struct addr2line_out *o, const char *name)
{
	put(&o->text, name ? demangled(o, name) : "??");
	put(&o->text, o->pretty ? " at " : "\n");
}

static void put_place(struct addr2line_out *o, const struct line_frame *f)
{
	const char *file = f->file ? f->file : "??";
	const char *slash = o->base_names ? strrchr(file, '/') : NULL;

	put(&o->text, slash ? slash + 1 : file);
	buf_put_u8(&o->text, ':');
	if (!f->line) {
		put(&o->text, "?\n");
		return;
	}
	buf_put_decimal(&o->text, f->line);
	if (f->discriminator) {
		put(&o->text, " (discriminator ");
		buf_put_decimal(&o->text, f->discriminator);
		buf_put_u8(&o->text, ')');
	}
	buf_put_u8(&o->text, '\n');
}

static void put_unknown(struct addr2line_out *o)
{
	if (o->functions)
		put(&o->text, o->pretty ? "?? " : "??\n");
	put(&o->text, "??:0\n");
}

/* The function around all: its name is what the linker sees, which is that of the symbol at
 * its start where debug information does not say it. */
static void name_outermost(struct addr2line_out *o, struct line_frame *f, uint64_t addr)
{
	struct line_symbol_name symbol;

	if (f->name && f->linkage)
		return;
	if (f->name)
		addr = f->start;
	if (lines_symbol(o->lines, addr, f->name, &symbol) &&
	    (!f->name || symbol.addr == addr))
		f->name = symbol.name;
}

void addr2line_out_put(struct addr2line_out *o, uint64_t addr, uint64_t shown)
{
	struct line_frame *frames = o->frames;
	size_t nr = lines_find(o->lines, addr, frames, ADDR2LINE_FRAMES_MAX);
	struct line_symbol_name symbol;

	if (o->addresses) {
		put(&o->text, "0x");
		buf_put_hex(&o->text, shown, 2 * lines_addr_bytes(o->lines));
		put(&o->text, o->pretty ? ": " : "\n");
	}
	if (!nr && lines_symbol(o->lines, addr, NULL, &symbol)) {
		frames[0] =
			(struct line_frame){ .name = symbol.name, .file = symbol.file };
		nr = 1;
	} else if (!nr) {
		put_unknown(o);
		return;
	} else if (o->functions && !frames[nr - 1].inlined) {
		name_outermost(o, &frames[nr - 1], addr);
	}
	for (size_t i = 0; i < (o->inlines ? nr : 1); i++) {
		if (i && o->pretty)
			put(&o->text, " (inlined by) ");
		if (o->functions)
			put_function(o, frames[i].name);
		/* addr2line says the innermost one's of all frames. */
		frames[i].discriminator = frames[0].discriminator;
		put_place(o, &frames[i]);
	}
}

void addr2line_out_done(struct addr2line_out *o)
{
	for (size_t i = 0; i < o->demangled.nr; i++)
		free(o->demangled.at[i]);
	vec_done(&o->demangled);
	map_done(&o->by_name);
	buf_done(&o->text);
}
