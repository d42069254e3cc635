/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/qualify.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash.h"
#include "resolve/dwarf/tree.h"

enum {
	QUALIFY_NAME_MAX = 4096,
	QUALIFY_TOTAL_MAX = 1 << 28, /* of a unit */
	QUALIFY_DEPTH_MAX = 32,
	QUALIFY_ORIGINS_MAX = 8,
	QUALIFY_PARAMETERS_MAX = 32
};

/* A name that is being composed. */
struct qualifier {
	struct dwarf_trees *trees;
	struct buf out;
	unsigned int depth;
	uint64_t
		auto_number; /* 0, or the number of the parameter of a generic lambda that is being
			      * written */
	bool failed; /* damaged, or a limit was reached: the plain name is kept */
};

static void put_type(struct qualifier *q, struct dwarf_place place);
static void put_scope(struct qualifier *q, struct dwarf_place place);

static void qualify_put(struct qualifier *q, const char *text, size_t len)
{
	if (q->out.len + len > QUALIFY_NAME_MAX)
		q->failed = true;
	else
		buf_put(&q->out, text, len);
}

static void qualify_text(struct qualifier *q, const char *text)
{
	qualify_put(q, text, strlen(text));
}

static void qualify_number(struct qualifier *q, uint64_t number)
{
	buf_put_decimal(&q->out, number);
}

static bool qualify_enter(struct qualifier *q)
{
	if (q->failed || q->depth >= QUALIFY_DEPTH_MAX) {
		q->failed = true;
		return false;
	}
	q->depth++;
	return true;
}

static bool qualify_read(struct qualifier *q, struct dwarf_place place,
			 struct dwarf_die *ret_die)
{
	if (!q->failed && dwarf_die_read(q->trees, place, ret_die))
		return true;
	q->failed = true;
	return false;
}

static const char *qualify_name_of(const struct qualifier *q,
				   const struct dwarf_die *die)
{
	const char *name = NULL;

	if (die->tree->unit.info)
		name = dwarf_value_text(&die->tree->unit, q->trees->rd, die->name);
	return name && *name ? name : NULL;
}

/* ---- lambdas and other types without a name ---- */

/* Finds the call operator of a lambda; returns false if the type is not a lambda. gcc writes no
 * name for the type, or "<lambda(int)>". */
static bool find_call_operator(struct qualifier *q, const struct dwarf_die *type,
			       struct dwarf_die *ret_call, bool *ret_generic)
{
	struct dwarf_place last = { 0 };
	struct dwarf_die child;
	const char *name = qualify_name_of(q, type);

	if (name && strncmp(name, "<lambda", 7) != 0)
		return false;
	while (dwarf_die_child(q->trees, type, &last, &child)) {
		if (child.tag != DW_TAG_subprogram)
			continue;
		name = qualify_name_of(q, &child);
		if (name && strncmp(name, "operator()", 10) == 0) {
			*ret_call = child;
			*ret_generic = name[10] == '<';
			return true;
		}
	}
	return false;
}

static bool is_declared_before(const struct dwarf_die *a, const struct dwarf_die *b)
{
	if (a->decl_line != b->decl_line)
		return a->decl_line < b->decl_line;
	if (a->decl_column != b->decl_column)
		return a->decl_column < b->decl_column;
	return a->place.off < b->place.off;
}

/* Returns the number of a type among the types without a name in its scope, in the order of the
 * source: gcc counts in the same way for the names of symbols. */
static uint64_t number_of(struct qualifier *q, const struct dwarf_die *type,
			  bool lambda)
{
	struct dwarf_place parent = dwarf_trees_parent(q->trees, type->place);
	struct dwarf_place last = { 0 };
	struct dwarf_die other;
	struct dwarf_die call;
	bool generic;
	uint64_t number = 1;

	while (!q->failed) {
		last = dwarf_trees_next_type(q->trees, parent, type->place, last);
		if (!last.info)
			break;
		if (!qualify_read(q, last, &other) || !is_declared_before(&other, type))
			continue;
		if (find_call_operator(q, &other, &call, &generic))
			number += lambda;
		else
			number += !lambda && other.name.kind == DWARF_VALUE_NONE;
	}
	return number;
}

/* Collects the parameters of a function, so that other entries can be read afterwards. */
struct parameters {
	struct dwarf_place types[QUALIFY_PARAMETERS_MAX];
	size_t nr;
	bool is_const; /* a member function of a constant object */
};

static bool is_place(struct dwarf_place place)
{
	return place.info && place.off != DWARF_ELSEWHERE;
}

static bool points_to_const(struct qualifier *q, struct dwarf_place place)
{
	struct dwarf_die die;

	for (int i = 0; i < QUALIFY_ORIGINS_MAX; i++) {
		bool pointer;

		if (!is_place(place) || !qualify_read(q, place, &die))
			return false;
		pointer = die.tag == DW_TAG_pointer_type;
		if (!pointer && die.tag != DW_TAG_const_type)
			return false;
		place = die.type;
		if (pointer)
			return is_place(place) && qualify_read(q, place, &die) &&
			       die.tag == DW_TAG_const_type;
	}
	return false;
}

static void collect_parameters(struct qualifier *q, const struct dwarf_die *function,
			       struct parameters *p)
{
	struct dwarf_place last = { 0 };
	struct dwarf_place object = { 0 };
	struct dwarf_die child;

	*p = (struct parameters){ 0 };
	while (dwarf_die_child(q->trees, function, &last, &child)) {
		if (child.tag != DW_TAG_formal_parameter)
			continue;
		/* Instances refer to the parameter of the abstract function. */
		if (!child.type.info && child.origin.info &&
		    !qualify_read(q, child.origin, &child))
			return;
		if (child.artificial && !p->nr && !object.info)
			object = child.type;
		else if (!child.artificial && p->nr < QUALIFY_PARAMETERS_MAX)
			p->types[p->nr++] = child.type;
	}
	if (object.info)
		p->is_const = points_to_const(q, object);
}

/* For a generic lambda, writes "auto:N" instead of the types of an instance. */
static void put_parameter_types(struct qualifier *q, const struct parameters *p,
				bool generic)
{
	qualify_text(q, "(");
	for (size_t i = 0; i < p->nr; i++) {
		if (i)
			qualify_text(q, ", ");
		q->auto_number = generic ? i + 1 : 0;
		put_type(q, p->types[i]);
	}
	q->auto_number = 0;
	qualify_text(q, ")");
}

static void put_unnamed(struct qualifier *q, const struct dwarf_die *type)
{
	struct parameters p = { 0 };
	struct dwarf_die call;
	bool generic = false;
	bool lambda = find_call_operator(q, type, &call, &generic);

	if (lambda) {
		collect_parameters(q, &call, &p);
		qualify_text(q, "{lambda");
	} else {
		qualify_text(q, "{unnamed type");
	}
	if (lambda)
		put_parameter_types(q, &p, generic);
	qualify_text(q, "#");
	qualify_number(q, number_of(q, type, lambda));
	qualify_text(q, "}");
}

/* ---- names with template arguments ---- */

/* Returns the length of the template argument at the beginning of `text`. */
static size_t argument_length(const char *text)
{
	size_t depth = 0;
	size_t i;

	for (i = 0; text[i]; i++) {
		if (strchr("<([{", text[i]))
			depth++;
		else if (strchr(">)]}", text[i]) &&
			 (text[i] != '>' || !i || text[i - 1] != '-'))
			if (!depth--)
				break;
		if (!depth && text[i] == ',')
			break;
	}
	return i;
}

/* Collects the template parameters of an entry, including those of its packs. */
static void collect_arguments(struct qualifier *q, const struct dwarf_die *die,
			      struct parameters *p)
{
	struct dwarf_place last = { 0 };
	struct dwarf_die child;

	while (dwarf_die_child(q->trees, die, &last, &child)) {
		if (child.tag == DW_TAG_GNU_template_parameter_pack &&
		    qualify_enter(q)) {
			collect_arguments(q, &child, p);
			q->depth--;
		} else if (p->nr < QUALIFY_PARAMETERS_MAX &&
			   (child.tag == DW_TAG_template_type_parameter ||
			    child.tag == DW_TAG_template_value_parameter)) {
			p->types[p->nr] = child.type;
			if (child.tag == DW_TAG_template_value_parameter)
				p->types[p->nr].info = NULL;
			p->nr++;
		}
	}
}

/* Writes a name. Template arguments that are lambdas get their numbers, which gcc's text lacks. */
static void put_own_name(struct qualifier *q, const struct dwarf_die *die,
			 const char *text)
{
	const char *open = strchr(text, '<');
	char *name;
	struct parameters p = { 0 };
	const char *at;

	if (strncmp(text, "operator<", 9) == 0)
		open = strchr(text + 8 + strspn(text + 8, "<=>"), '<');
	if (!open || !strstr(open, "<lambda") || *text == '<' || *text == '~') {
		qualify_text(q, text);
		return;
	}
	name = strdup(text);
	if (!name) {
		q->out.failed = true;
		return;
	}
	collect_arguments(q, die, &p);
	at = name + (open - text) + 1;
	qualify_put(q, name, (size_t)(at - name));
	for (size_t i = 0; *at && *at != '>'; i++) {
		size_t len = argument_length(at);

		if (i)
			qualify_text(q, ", ");
		if (i < p.nr && p.types[i].info && memmem(at, len, "<lambda", 7)) {
			put_type(q, p.types[i]);
			at += len;
		} else {
			qualify_put(q, at, len - (len && at[len - 1] == ' '));
			at += len;
		}
		at += strspn(at, ", ");
	}
	if (q->out.len && q->out.data[q->out.len - 1] == '>')
		qualify_text(q, " ");
	qualify_text(q, *at ? at : ">");
	free(name);
}

/* ---- functions ---- */

/* A function with the entries it refers to. */
struct qualify_function {
	struct dwarf_die
		last; /* end of the references: the declaration, whose parent is the scope */
	struct dwarf_die named;
	bool external;
	bool linkage;
};

static bool qualify_resolve(struct qualifier *q, struct dwarf_place place,
			    struct qualify_function *f)
{
	*f = (struct qualify_function){ 0 };
	for (int i = 0; is_place(place) && i < QUALIFY_ORIGINS_MAX; i++) {
		if (!qualify_read(q, place, &f->last))
			return false;
		if (f->last.name.kind != DWARF_VALUE_NONE &&
		    f->named.name.kind == DWARF_VALUE_NONE)
			f->named = f->last;
		f->external |= f->last.external;
		f->linkage |= f->last.linkage.kind != DWARF_VALUE_NONE;
		place = f->last.origin;
	}
	return f->named.name.kind != DWARF_VALUE_NONE;
}

/* Returns whether the function has C linkage: main, and functions in extern "C". The name of
 * their symbol has neither scope nor parameters. */
static bool has_c_linkage(const struct qualify_function *f)
{
	return f->external && !f->linkage;
}

static void put_function(struct qualifier *q, const struct qualify_function *f,
			 bool with_parameters)
{
	struct parameters p;
	struct dwarf_die named;
	const char *name;

	if (!has_c_linkage(f))
		put_scope(q, f->last.place);
	/* Other units were read. */
	if (!qualify_read(q, f->named.place, &named))
		return;
	name = qualify_name_of(q, &named);
	if (!name) {
		q->failed = true;
		return;
	}
	put_own_name(q, &named, name);
	if (!with_parameters || has_c_linkage(f) ||
	    !qualify_read(q, f->named.place, &named))
		return;
	collect_parameters(q, &named, &p);
	put_parameter_types(q, &p, false);
	if (p.is_const)
		qualify_text(q, " const");
}

/* Writes the enclosing namespaces, types and functions of an entry. */
static void put_scope(struct qualifier *q, struct dwarf_place place)
{
	struct dwarf_place parent = dwarf_trees_parent(q->trees, place);
	struct qualify_function f;
	struct dwarf_die die;
	const char *name;

	if (!parent.info || !qualify_enter(q))
		return;
	if (!qualify_read(q, parent, &die))
		return;
	switch (die.tag) {
	case DW_TAG_namespace:
		put_scope(q, parent);
		if (!qualify_read(q, parent, &die))
			return;
		name = qualify_name_of(q, &die);
		qualify_text(q, name ? name : "(anonymous namespace)");
		break;
	case DW_TAG_subprogram:
		if (qualify_resolve(q, parent, &f))
			put_function(q, &f, true);
		else
			q->failed = true;
		break;
	default:
		put_type(q, parent);
		break;
	}
	qualify_text(q, "::");
	q->depth--;
}

/* ---- types ---- */

static void put_type_name(struct qualifier *q, const struct dwarf_die *type)
{
	/* Names of basic types: DWARF's, and the demangler's for the same type. */
	static const char *const names[][2] = {
		{ "long int", "long" },
		{ "short int", "short" },
		{ "long unsigned int", "unsigned long" },
		{ "short unsigned int", "unsigned short" },
		{ "long long int", "long long" },
		{ "long long unsigned int", "unsigned long long" },
	};
	struct dwarf_die die;
	const char *name;

	if (type->tag != DW_TAG_base_type)
		put_scope(q, type->place);
	if (!qualify_read(q, type->place, &die))
		return;
	name = qualify_name_of(q, &die);
	if (!name || strncmp(name, "<lambda", 7) == 0) {
		put_unnamed(q, &die);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(names) && die.tag == DW_TAG_base_type; i++)
		if (strcmp(name, names[i][0]) == 0)
			name = names[i][1];
	put_own_name(q, &die, name);
}

/* Writes the type of a function, with `middle` ("(*)") in front of its parameters. */
static void put_function_type(struct qualifier *q, const struct dwarf_die *type,
			      const char *middle)
{
	struct parameters p;
	struct dwarf_place place = type->place;
	struct dwarf_die die;

	put_type(q, type->type);
	qualify_text(q, " ");
	qualify_text(q, middle);
	if (!qualify_read(q, place, &die))
		return;
	collect_parameters(q, &die, &p);
	put_parameter_types(q, &p, false);
}

/* Writes a pointer or reference. For pointers to functions, `middle` is the text before the
 * parameters. */
static void put_pointer(struct qualifier *q, const struct dwarf_die *type,
			const char *sign, const char *middle)
{
	struct dwarf_die target;

	if (is_place(type->type) && qualify_read(q, type->type, &target) &&
	    target.tag == DW_TAG_subroutine_type) {
		put_function_type(q, &target, middle);
		return;
	}
	put_type(q, type->type);
	qualify_text(q, sign);
}

static void put_type(struct qualifier *q, struct dwarf_place place)
{
	struct dwarf_die type;

	if (!place.info || place.off == DWARF_ELSEWHERE) {
		qualify_text(q, place.info ? "?" : "void");
		return;
	}
	if (!qualify_enter(q) || !qualify_read(q, place, &type))
		return;
	switch (type.tag) {
	case DW_TAG_pointer_type:
		put_pointer(q, &type, "*", "(*)");
		break;
	case DW_TAG_reference_type:
		put_pointer(q, &type, "&", "(&)");
		break;
	case DW_TAG_rvalue_reference_type:
		put_pointer(q, &type, "&&", "(&&)");
		break;
	case DW_TAG_const_type:
		put_type(q, type.type);
		qualify_text(q, " const");
		break;
	case DW_TAG_volatile_type:
		put_type(q, type.type);
		qualify_text(q, " volatile");
		break;
	case DW_TAG_typedef:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		put_type(q, type.type);
		break;
	case DW_TAG_array_type:
		put_type(q, type.type);
		qualify_text(q, " []");
		break;
	case DW_TAG_ptr_to_member_type:
		put_type(q, type.type);
		qualify_text(q, " ::*");
		break;
	case DW_TAG_subroutine_type:
		put_function_type(q, &type, "");
		break;
	default:
		if (q->auto_number) {
			qualify_text(q, "auto:");
			qualify_number(q, q->auto_number);
		} else {
			put_type_name(q, &type);
		}
		break;
	}
	q->depth--;
}

/* ---- all functions of a unit ---- */

static bool is_cxx(uint16_t lang)
{
	switch (lang) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* DW_LANG_C_plus_plus_17 */
	case 0x2c: /* DW_LANG_C_plus_plus_20 */
	case 0x3a: /* DW_LANG_C_plus_plus_23 */
	case DW_LANG_ObjC_plus_plus:
		return true;
	default:
		return false;
	}
}

/* Composes the name of a function in q->out; returns whether it has one. */
static bool qualify_compose(struct qualifier *q, struct dwarf_unlinked *u,
			    bool with_parameters)
{
	struct dwarf_place place = { u->info, u->off };
	struct qualify_function f;
	uint16_t lang;

	q->depth = 0;
	q->failed = false;
	buf_clear(&q->out);
	if (!qualify_resolve(q, place, &f))
		return false;
	u->last = f.last.place.off;
	lang = f.last.tree->unit.lang;
	/* Units made by dwz have no language, so the open unit's is used. */
	if (!is_cxx(lang ? lang : q->trees->open->unit->lang) || has_c_linkage(&f))
		return false;
	put_function(q, &f, with_parameters);
	return !q->failed && !q->out.failed;
}

static int qualify_rename(struct dwarf_scopes *s, struct qualifier *q,
			  struct dwarf_unlinked *u, bool with_parameters)
{
	struct dwarf_function *f = &s->functions.at[u->function];

	if (s->names.len > QUALIFY_TOTAL_MAX || !qualify_compose(q, u, with_parameters))
		return q->out.failed ? -ENOMEM : 0;
	f->name = (uint32_t)s->names.len;
	buf_put(&s->names, q->out.data, q->out.len);
	buf_put_u8(&s->names, '\0');
	return s->names.failed ? -ENOMEM : 0;
}

static const char *qualify_name_now(const struct dwarf_scopes *s,
				    const struct dwarf_unlinked *u)
{
	return (const char *)s->names.data + s->functions.at[u->function].name;
}

/* Compares functions by the order of their entries, so that each unit is read only once. */
static int qualify_by_place(const void *a, const void *b)
{
	const struct dwarf_unlinked *x = a;
	const struct dwarf_unlinked *y = b;

	if (x->is_alt != y->is_alt)
		return x->is_alt - y->is_alt;
	return (x->off > y->off) - (x->off < y->off);
}

/* Returns a hash of the name with parameters. */
static uint64_t qualify_full_hash(struct qualifier *q, struct dwarf_unlinked *u)
{
	if (!u->full_hash) {
		bool composed = qualify_compose(q, u, true);

		u->full_hash =
			composed ? hash_bytes(q->out.data, q->out.len, 0) | 1 : 1;
	}
	return u->full_hash;
}

/* Adds the parameters to functions that would otherwise have the same name. */
static int qualify_distinguish(struct dwarf_scopes *s, struct qualifier *q)
{
	struct map first = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < s->unlinked.nr; i++) {
		struct dwarf_unlinked *u = &s->unlinked.at[i];
		const char *name = qualify_name_now(s, u);
		struct dwarf_unlinked *other;
		struct map_slot *slot;
		bool is_new;

		slot = map_at(&first, hash_bytes(name, strlen(name), 0), 0, &is_new);
		if (!slot) {
			r = -ENOMEM;
			break;
		}
		if (is_new)
			slot->value_plus_1 = (uint32_t)i + 1;
		other = &s->unlinked.at[slot->value_plus_1 - 1];
		if ((other->last != u->last || other->is_alt != u->is_alt) &&
		    qualify_full_hash(q, other) != qualify_full_hash(q, u))
			other->is_ambiguous = u->is_ambiguous = true;
		if (q->out.failed)
			r = -ENOMEM;
	}
	for (size_t i = 0; !r && i < s->unlinked.nr; i++)
		if (s->unlinked.at[i].is_ambiguous)
			r = qualify_rename(s, q, &s->unlinked.at[i], true);
	map_done(&first);
	return r;
}

int dwarf_qualify(struct dwarf_scopes *s, struct dwarf_open_unit *o,
		  struct dwarf_reader *rd)
{
	struct dwarf_trees *trees;
	struct qualifier q = { 0 };
	int r = 0;

	if (!s->unlinked.nr)
		return 0;
	trees = malloc(sizeof(*trees));
	if (!trees)
		return -ENOMEM;
	dwarf_trees_init(trees, o, rd);
	q.trees = trees;
	qsort(s->unlinked.at, s->unlinked.nr, sizeof(*s->unlinked.at),
	      qualify_by_place);
	for (size_t i = 0; !r && i < s->unlinked.nr; i++)
		r = qualify_rename(s, &q, &s->unlinked.at[i], false);
	if (!r)
		r = qualify_distinguish(s, &q);
	buf_done(&q.out);
	dwarf_trees_done(trees);
	free(trees);
	return r;
}
