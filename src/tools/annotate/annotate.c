/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate.c - `oprofile annotate`, called opannotate: prints sources or code with the samples of
 * each line or instruction. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/selection/spec.h"
#include "archive/read/open.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "present/annotation/annotation.h"
#include "present/annotation/html.h"
#include "present/annotation/json.h"
#include "present/annotation/objdump.h"
#include "present/annotation/write_annotation.h"
#include "present/annotation/write_assembly.h"
#include "present/lines/percent.h"
#include "present/lines/ratio.h"
#include "present/lines/screen.h"
#include "record/keep/copy_rule.h"
#include "recordings/code/image_code.h"
#include "recordings/code/source_file.h"
#include "recordings/source_find.h"
#include "tools/annotate/files.h"
#include "tools/annotate/html.h"
#include "tools/annotate/options.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/cli/pager.h"
#include "tools/report/plan.h"
#include "tools/report/read.h"

enum {
	STATUS_INCOMPLETE = 3,
	WORDS_NO_BINARIES = -2, /* not an exit status */
	HOTTEST_CONTEXT = 10,
	SAID_MAX = 4,
	RATIOS_SAID_MAX = 512
};

extern const struct command command_annotate;

/* The state of a run. */
struct annotate {
	struct annotate_options options;
	struct report_plan plan;
	struct report_read read;
	struct annotation made;
	struct source_find find;
	struct source_locations sources;
	struct annotation_layout layout;
	uint64_t *shown;
	const char *said[SAID_MAX];
	char threshold_said[96];
	char ratios_said[RATIOS_SAID_MAX];
	size_t only_file; /* with --hottest: index of the only file to print */
	struct image_code code;
	/* Like `code`, for sources that are embedded in debug information. */
	struct image_code source_code;
	struct annotate_objdump objdump;
	bool again;                 /* a further run for the same command line */
	struct annotate_html *html; /* with --html: the writer of the pages */
	bool left_out;              /* some source was not written to --output-dir */
	struct err *err;
};

/* ---- request ---- */

static int make_plan(struct annotate *a, char *const *words)
{
	struct report_plan *plan = &a->plan;
	int r;

	plan->options = a->options.report;
	/* Request the keys from which the lines are computed. */
	plan->options.symbols = true;
	plan->options.details = true;
	plan->options.debug_info = !a->options.assembly || a->options.both;
	plan->profile.code = true;
	plan->profile.code_lines = a->options.source || a->options.inline_sites;
	plan->merge = MERGE_LIB;
	for (char *const *word = words; *word; word++)
		if (!strcmp(*word, "{") || !strcmp(*word, "}"))
			return err_set(a->err, -EINVAL,
				       "differential profiles not allowed");
	r = report_plan_make(plan, words, a->err);
	if (plan->sources.samples_dir && !a->again)
		screen_print_line(stderr, "Using %s/ for session-dir",
				  plan->sources.samples_dir);
	if (r)
		return r;
	a->sources =
		(struct source_locations){ &a->find, plan->locations, &a->source_code,
					   a->options.output_dir || a->options.html };
	return source_find_init(
		&a->find,
		&(struct source_find_options){
			.search_dirs = a->options.search_dirs,
			.base_dirs = a->options.base_dirs,
			.archive = archive_folder(plan->sources.archive),
			.root = plan->options.locations.root },
		a->err);
}

/* Returns a description of the ratio columns for the header, because these columns have no
 * headings. */
static const char *say_ratios(struct annotate *a)
{
	const struct present_options *o = &a->plan.present;
	size_t len = 0;

	for (size_t i = 0; i < o->nr_ratios && len < sizeof(a->ratios_said); i++)
		len += (size_t)snprintf(a->ratios_said + len, RATIOS_SAID_MAX - len,
					"%s%s",
					i ? ", " : "After the counts: ", o->ratios[i]);
	return len ? a->ratios_said : NULL;
}

static void say_interpretation(struct annotate *a)
{
	double threshold = a->plan.present.threshold;

	snprintf(a->threshold_said, sizeof(a->threshold_said),
		 "Output files where samples count reach %g%% of the samples",
		 threshold);
	a->layout.said = a->said;
	if (a->options.assembly) {
		a->said[0] =
			a->options.source
				? "Output annotated source and assembly listing with samples"
				: "Output annotated assembly listing with samples";
		a->said[1] = say_ratios(a);
		return;
	}
	a->said[0] = "Output annotated source file with samples";
	a->said[1] = threshold > 0 ? a->threshold_said : "Output all files";
	a->said[2] = say_ratios(a);
}

static void choose_layout(struct annotate *a)
{
	const struct annotate_options *o = &a->options;

	a->layout.screen = a->plan.present.screen;
	a->layout.info_last = o->output_dir;
	a->layout.context =
		o->context == ANNOTATE_CONTEXT_OFF ? ANNOTATE_WHOLE : (long)o->context;
	say_interpretation(a);
	if (!o->hottest)
		return;
	if (a->layout.context < 0)
		a->layout.context = HOTTEST_CONTEXT;
	if (!annotation_hottest(&a->made, &a->only_file, &a->layout.only_line))
		a->only_file = SIZE_MAX;
}

static bool annotate_is_wanted(const struct annotate *a, size_t file)
{
	const struct annotated_file *f = &a->made.files.at[file];

	if (a->options.hottest)
		return file == a->only_file;
	return annotation_reaches(&a->made, f->counts, a->plan.present.threshold) &&
	       annotate_wants_file(&a->options, f->path);
}

/* ---- sources ---- */

/* Returns the image with most of the file's samples. */
static const struct profile_image *annotate_image_of(const struct annotate *a,
						     const struct annotated_file *file)
{
	const struct profile *p = &a->read.profile;

	for (size_t i = 0; i < p->images.nr; i++)
		if (p->images.at[i].name == file->image)
			return &p->images.at[i];
	return NULL;
}

/* Returns whether the source was changed after its binary was built. */
static bool is_newer(const struct annotate *a, const struct profile_image *image,
		     const struct source_file *source)
{
	const char *from;
	struct stat st;

	if (!source->text || source->fetched || !image)
		return false;
	from = strtab_get(&a->read.profile.strings, image->from);
	return *from && !fault_stat(from, &st) && source->st.st_mtime > st.st_mtime;
}

static bool warn_of_newer(const struct annotate *a, const struct profile_image *image,
			  const struct source_file *source)
{
	if (!is_newer(a, image, source))
		return false;
	command_warning(
		"'%s' is newer than '%s': line numbers can differ from those of the recorded program",
		source->file, strtab_get(&a->read.profile.strings, image->name));
	return true;
}

static int annotate_find_source(struct annotate *a, const struct annotated_file *file,
				struct source_file *source)
{
	return source_file_open(&a->sources, file->path, annotate_image_of(a, file),
				source)
		       ? err_set(a->err, -ENOMEM, "out of memory")
		       : 0;
}

/* Warns if the source cannot be shown or has changed since the binary was built. Returns a note
 * for the listing, or NULL. */
static const char *annotate_check_source(const struct annotate *a,
					 const struct annotated_file *file,
					 const struct source_file *source)
{
	if (!source->text) {
		command_warning("unable to open for reading: %s (%s)", file->path,
				source->why);
		return NULL;
	}
	return warn_of_newer(a, annotate_image_of(a, file), source)
		       ? "The source is newer than the binary: "
			 "line numbers can differ from those of the recorded program."
		       : NULL;
}

static int annotate_open_source(struct annotate *a, const struct annotated_file *file,
				struct source_file *source, const char **ret_note)
{
	int r = annotate_find_source(a, file, source);

	*ret_note = r ? NULL : annotate_check_source(a, file, source);
	return r;
}

static int write_source(struct annotate *a, FILE *out, size_t file,
			struct source_file *source, const char *note)
{
	const struct annotation_source text = { source->text, note };

	if (annotation_write_file(out, &a->made, file, &text, &a->layout, a->shown))
		return err_set(a->err, -ENOMEM, "out of memory");
	return 0;
}

/* Opens a source for listings of code with interleaved sources; warns once per source. */
static FILE *annotate_open_text(void *ctx, const char *path)
{
	struct annotate *a = ctx;
	const struct profile_image *image = &a->read.profile.images.at[a->code.image];
	struct source_file source;
	FILE *text;

	if (source_file_open(&a->sources, path, image, &source))
		return NULL;
	if (!source.text)
		command_warning("unable to open for reading: %s (%s)", path,
				source.why);
	warn_of_newer(a, image, &source);
	if (a->html && source.is_private)
		annotate_html_private(a->html);
	text = source.text;
	source.text = NULL;
	source_file_close(&source);
	return text;
}

static struct code *annotate_open_code(void *ctx, uint32_t image)
{
	struct annotate *a = ctx;
	const struct profile *p = &a->read.profile;
	const char *binary = strtab_get(&p->strings, p->images.at[image].binary);

	if (a->html && *binary && copy_rule_is_private(binary))
		annotate_html_private(a->html);
	return image_code_of(&a->code, image);
}

/* ---- output ---- */

static int write_sources(struct annotate *a, FILE *out)
{
	int r = 0;

	for (size_t f = 0; !r && f < a->made.files.nr; f++) {
		struct source_file source = { 0 };
		const char *note;

		if (!annotate_is_wanted(a, f))
			continue;
		r = annotate_open_source(a, &a->made.files.at[f], &source, &note);
		if (!r)
			r = write_source(a, out, f, &source, note);
		source_file_close(&source);
	}
	return r;
}

static int write_by_objdump(void *ctx, FILE *out, const struct assembly *s,
			    const struct assembly_function *function, uint64_t *shown)
{
	struct annotate *a = ctx;
	struct err why_not = { 0 };
	int r = annotate_objdump_write(&a->objdump, out, s, function, shown, &why_not);

	if (!r && why_not.code)
		command_warning("%s", why_not.text);
	return r;
}

static int write_assembly(struct annotate *a, FILE *out)
{
	const struct assembly_source source = {
		.code_of = annotate_open_code,
		.open_source = annotate_open_text,
		.write = a->options.objdump_params ? write_by_objdump : NULL,
		.ctx = a,
		.threshold = a->plan.present.threshold,
		.top = a->options.top,
		.hottest = a->options.hottest,
		.mixed = a->options.source,
		.inline_sites = a->options.inline_sites,
	};
	int r = assembly_write(out, &a->made, &source, &a->layout, a->shown);

	return r ? err_set(a->err, r, "out of memory") : 0;
}

static int annotate_write_all(FILE *out, void *ctx)
{
	struct annotate *a = ctx;
	int r = 0;

	memset(a->shown, 0, a->made.nr_counts * sizeof(*a->shown));
	if (annotation_write_info(out, &a->made, &a->layout))
		return err_set(a->err, -ENOMEM, "out of memory");
	r = a->options.assembly ? write_assembly(a, out) : write_sources(a, out);
	if (r)
		return r;
	annotation_write_sums(out, &a->made, &a->layout, a->shown,
			      !a->options.assembly);
	return fflush(out) || ferror(out)
		       ? err_sys(a->err, output_failure(out),
				 "cannot write to the standard output")
		       : 0;
}

static int annotate_close_below(struct annotate *a, const struct annotate_output *o,
				const char *path, FILE *out, int r)
{
	if ((fflush(out) || ferror(out)) && !r)
		r = err_sys(a->err, output_failure(out), "cannot write '%s%s'", o->dir,
			    path);
	if (fclose(out) && !r)
		r = err_sys(a->err, -errno, "cannot write '%s%s'", o->dir, path);
	if (r)
		annotate_output_remove(o, path);
	return r;
}

/* Writes the listing of a source below --output-dir. If no file can have that path, skips it with
 * a warning. */
static int annotate_write_below(struct annotate *a, struct annotate_output *o, size_t f,
				const char *path, struct source_file *source)
{
	const char *note;
	FILE *out;
	int r = annotate_output_file(o, path, source, &out, a->err);

	if (annotate_output_leaves_out(r)) {
		command_warning("source file left out: %s", a->err->text);
		*a->err = (struct err){ 0 };
		a->left_out = true;
		return 0;
	}
	if (r)
		return r;
	note = annotate_check_source(a, &a->made.files.at[f], source);
	return annotate_close_below(a, o, path, out,
				    write_source(a, out, f, source, note));
}

static int write_file_below(struct annotate *a, struct annotate_output *o, size_t f)
{
	struct source_file source = { 0 };
	char *path = annotate_output_path(a->made.files.at[f].path);
	int r = path ? annotate_find_source(a, &a->made.files.at[f], &source)
		     : err_set(a->err, -ENOMEM, "out of memory");

	if (!r)
		r = annotate_write_below(a, o, f, path, &source);
	source_file_close(&source);
	free(path);
	return r;
}

static int write_below(struct annotate *a)
{
	struct annotate_output o = { .fd = -1,
				     .dir = a->options.output_dir,
				     .is_private = report_read_is_private(&a->read,
									  &a->plan) };
	int r = annotate_output_open(&o, a->err);

	for (size_t f = 0; !r && f < a->made.files.nr; f++)
		if (annotate_is_wanted(a, f))
			r = write_file_below(a, &o, f);
	annotate_output_close(&o);
	if (!r)
		annotation_write_sums(stdout, &a->made, &a->layout, a->shown, true);
	return r;
}

/* ---- HTML pages, JSON ---- */

static int open_page_source(void *ctx, size_t file, bool again,
			    struct annotation_source *ret_source)
{
	struct annotate *a = ctx;
	const struct annotated_file *of = &a->made.files.at[file];
	struct source_file source = { 0 };
	int r = again ? source_file_open(&a->sources, of->path,
					 annotate_image_of(a, of), &source)
		      : annotate_open_source(a, of, &source, &ret_source->note);

	if (a->html && source.is_private)
		annotate_html_private(a->html);
	ret_source->text = source.text;
	source.text = NULL;
	source_file_close(&source);
	return r;
}

static bool wants_page(void *ctx, size_t file)
{
	return annotate_is_wanted(ctx, file);
}

static int open_page(void *ctx, const char *path, FILE **ret_page)
{
	struct annotate *a = ctx;

	return annotate_html_open_page(a->html, path, ret_page);
}

static int close_page(void *ctx, FILE *page)
{
	struct annotate *a = ctx;

	return annotate_html_close_page(a->html, page);
}

static int write_html(struct annotate *a)
{
	const struct annotation_pages pages = {
		.code_of = annotate_open_code,
		.open_source = open_page_source,
		.wants_file = wants_page,
		.open_page = open_page,
		.close_page = close_page,
		.ctx = a,
		.threshold = a->plan.present.threshold,
		.top = a->options.top,
		.words = a->layout.words,
	};
	int r;

	if (report_read_is_private(&a->read, &a->plan))
		annotate_html_private(a->html);
	r = annotation_write_html(&a->made, &pages);
	if (!r)
		r = annotate_html_finish(a->html);
	else if (!*a->err->text)
		err_set(a->err, r, "out of memory");
	return r;
}

static int write_as_json(FILE *out, struct annotate *a)
{
	const struct annotation_json json = {
		.code_of = annotate_open_code,
		.wants_file = wants_page,
		.ctx = a,
		.sources = a->options.source,
		.code = a->options.assembly,
		.threshold = a->plan.present.threshold,
		.top = a->options.top,
	};

	if (annotation_write_json(out, &a->made, &json))
		return err_set(a->err, -ENOMEM, "out of memory");
	return fflush(out) || ferror(out)
		       ? err_sys(a->err, output_failure(out),
				 "cannot write to the standard output")
		       : 0;
}

static int annotate_write_out(struct annotate *a)
{
	bool sites = a->options.inline_sites && !a->options.assembly;
	const struct annotation_options options = {
		.present = &a->plan.present,
		.top = a->options.top,
		.code_of = sites ? annotate_open_code : NULL,
		.ctx = a,
	};
	int r;

	image_code_init(&a->code, &a->read.profile,
			a->options.source || a->options.inline_sites ? &a->plan.lines
								     : NULL,
			command_warning);
	image_code_init(&a->source_code, &a->read.profile, &a->plan.lines,
			command_warning);
	if (ratios_check(&a->read.profile, a->plan.present.ratios,
			 a->plan.present.nr_ratios, a->err) ||
	    annotation_make(&a->made, &a->read.profile, &options, a->err))
		return -1;
	a->shown = calloc(a->made.nr_counts + 1, sizeof(*a->shown));
	if (!a->shown)
		return err_set(a->err, -ENOMEM, "out of memory");
	choose_layout(a);
	if (!a->made.files.nr && !a->options.assembly)
		command_warning(
			"no debug information available for any binary selected, and --assembly not requested.");
	if (a->html)
		return write_html(a);
	if (a->options.json)
		return write_as_json(stdout, a);
	if (a->options.output_dir)
		return write_below(a);
	r = pager_run(&a->plan.options.terminal, &a->layout.screen, annotate_write_all,
		      a);
	if (r) {
		clearerr(stdout);
		if (!*a->err->text)
			err_sys(a->err, r, "cannot write to the standard output");
	}
	return r;
}

/* Returns whether the arguments that name binaries can name functions instead. */
static bool has_function_words(const struct annotate *a)
{
	const struct spec_list *words = &a->plan.spec.lists[SPEC_ANY_IMAGE];

	for (size_t i = 0; i < words->values.nr; i++)
		if (strchr(words->values.at[i], '/'))
			return false;
	return words->values.nr && !a->plan.spec.lists[SPEC_SYMBOL].values.nr;
}

/* Annotates the samples that the arguments select. Returns an exit status, or WORDS_NO_BINARIES
 * without a message if `functions_next` and the arguments match no binary. */
static int annotate(struct annotate *a, char *const *words, bool functions_next)
{
	bool incomplete;
	int r = annotate_options_check(&a->options, a->err);

	if (!r && a->options.html)
		r = annotate_html_new(a->options.html, &a->html, a->err);
	if (!r)
		r = make_plan(a, words);
	if (!r && a->options.objdump_params)
		r = annotate_objdump_init(&a->objdump, a->options.objdump_params,
					  a->options.source, a->err);
	if (!r)
		r = report_read_all(&a->read, &a->plan, a->err);
	report_progress_end();
	if (functions_next && (a->again || has_function_words(a)) &&
	    (r == -ENOENT || r == -ENODATA))
		return WORDS_NO_BINARIES;
	incomplete = report_warn_of_damage(&a->read);
	if (!r) {
		report_warn_of_losses(&a->read);
		r = annotate_write_out(a);
	}
	if (r) {
		mistaken_word_say(&a->plan.sources, &a->plan.spec, r);
		command_error("%s", a->err->text);
		return 1;
	}
	if (a->options.report.strict && command_nr_warnings())
		return 1;
	return incomplete || a->left_out ? STATUS_INCOMPLETE : 0;
}

/* Copies the arguments in their original order, because parsing reorders them. */
static const char **copy_words(int argc, char **argv)
{
	const char **words = calloc((size_t)argc + 1, sizeof(*words));

	for (int i = 0; words && i < argc; i++)
		words[i] = i ? argv[i] : command_name();
	return words;
}

static void annotate_done(struct annotate *a)
{
	image_code_done(&a->code);
	image_code_done(&a->source_code);
	annotate_objdump_done(&a->objdump);
	annotate_html_free(a->html);
	free(a->shown);
	annotation_done(&a->made);
	source_find_done(&a->find);
	profile_done(&a->read.profile);
	a->plan.options = a->options.report;
	report_plan_done(&a->plan);
	vec_done(&a->options.include_files.values);
	vec_done(&a->options.exclude_files.values);
}

/* The command line. */
struct annotate_call {
	const struct command *command;
	int argc;
	char **argv;
	const char **words; /* in their original order */
	int first; /* of the arguments, which the parser moves after the options */
};

/* Parses the options and runs once, with the arguments `instead`, or with those of the command line
 * if that is NULL. */
static int annotate_once(struct annotate_call *call, char *const *instead,
			 bool functions_next)
{
	struct err err = { 0 };
	struct annotate a = { .options = { .context = ANNOTATE_CONTEXT_OFF },
			      .err = &err,
			      .layout.words = call->words,
			      .again = instead };
	int status = command_options(call->command, OPTIONS_PERMUTE, call->argc,
				     call->argv, &a.options, &call->first);

	if (status >= 0)
		return status;
	status = annotate(&a, instead ? instead : call->argv + call->first,
			  functions_next);
	annotate_done(&a);
	return status;
}

/* Runs again with the bare arguments as names of functions. */
static int annotate_functions(struct annotate_call *call)
{
	struct spec spec = { 0 };
	struct buf functions = { 0 };
	VEC(char *) words = { 0 };
	struct err err;
	bool kept = true;
	int status = WORDS_NO_BINARIES;

	for (char **word = call->argv + call->first; *word && kept; word++) {
		const size_t nr = spec.lists[SPEC_ANY_IMAGE].values.nr;

		kept = report_source_is(*word) || !spec_add(&spec, *word, &err);
		if (spec.lists[SPEC_ANY_IMAGE].values.nr > nr) {
			buf_put(&functions, "symbol:,", functions.len ? 0 : 7);
			buf_put(&functions, ",", functions.len > 7);
			buf_put(&functions, *word, strlen(*word));
		} else if (kept) {
			kept = vec_push(&words, *word);
		}
	}
	buf_put_u8(&functions, 0);
	if (kept && !functions.failed && functions.len > 1 &&
	    vec_push(&words, (char *)functions.data) && vec_push(&words, NULL))
		status = annotate_once(call, words.at, true);
	spec_done(&spec);
	buf_done(&functions);
	vec_done(&words);
	return status;
}

static int annotate_run(const struct command *self, int argc, char **argv)
{
	struct annotate_call call = { self, argc, argv, copy_words(argc, argv), 0 };
	int status = 1;

	if (call.words)
		status = annotate_once(&call, NULL, true);
	if (status == WORDS_NO_BINARIES)
		status = annotate_functions(&call);
	/* The arguments match no function either: report that they match no binary. */
	if (status == WORDS_NO_BINARIES)
		status = annotate_once(&call, NULL, false);
	free(call.words);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.classic = "opannotate",
	.summary = "show sources or code with the samples of each line or instruction",
	.usage =
		"--source|--assembly|--html DIR|--json [options] [SESSION-DIR | profile specification | FUNCTION...]",
	.notes =
		"The arguments are those of opreport. Bare words that match no binary are names of functions.\n"
		"Examples:\n"
		"  opannotate --source image:/usr/bin/make\n"
		"  opannotate --source --hottest\n"
		"  opannotate --assembly main\n"
		"  opannotate --assembly --top 3\n"
		"  opannotate --source --output-dir annotated --threshold 1\n"
		"  opannotate --html pages",
	.options = annotate_rows,
	.run = annotate_run,
};
