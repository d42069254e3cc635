#include "tools/report_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/parse.h"
#include "format/archive_manifest.h"
#include "format/perf_input.h"
#include "format/session.h"
#include "format/session_hold.h"
#include "tools/archive_open.h"
#include "tools/import_file.h"
#include "tools/import_foreign.h"
#include "tools/scratch.h"

enum {
	THREADS_MAX = 1 << 10
};

static const char default_dir[] = "./oprofile_data";
static const char system_dir[] = "/var/lib/oprofile";

static char *join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

typedef VEC(char *) words_vec;

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool has_segments(const char *dir)
{
	char **paths;
	size_t nr;

	if (session_list(dir, &paths, &nr, NULL))
		return false;
	for (size_t i = 0; i < nr; i++)
		free(paths[i]);
	free(paths);
	return nr;
}

/* The session that a directory is or holds, malloc'd: DIR, DIR/samples/current or
 * DIR/current.  NULL if it has none. */
static char *session_in(const char *dir)
{
	static const char *const below[] = { "samples/current", "current" };

	if (has_segments(dir))
		return strdup(dir);
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		char *path = join(dir, below[i]);

		if (path && has_segments(path))
			return path;
		free(path);
	}
	return NULL;
}

static void hold(struct report_sources *sources, const char *dir)
{
	int fd = session_hold(dir);

	if (fd >= 0 && !vec_push(&sources->holds, fd))
		close(fd);
}

enum trust report_trust(bool force)
{
	return force ? TRUST_ANY : TRUST_OWN;
}

static int check_path(const char *path, int flags, enum trust trust, struct err *err)
{
	int fd = io_open(path, O_PATH | flags, 0);
	int r = fd < 0 ? err_sys(err, fd, "%s", path)
		       : trust_check(fd, trust, path, err);

	if (fd >= 0)
		close(fd);
	return r;
}

/* Early, so that nothing is written when a recording is refused.  Its files are checked again when they are
 * opened; a session's directory has others than the segments, too. */
static int check_session(const struct report_session *s, struct err *err)
{
	if (!s->dir || !s->name)
		return err_set(err, -ENOMEM, "out of memory");
	if (s->perf_data && !strcmp(s->dir, "-"))
		return 0;
	return check_path(s->dir, s->perf_data ? 0 : O_DIRECTORY, s->trust, err);
}

/* Consumes `dir`. */
static int add_session(struct report_sources *sources, char *dir, const char *name,
		       bool perf_data, struct err *err)
{
	struct report_session session = {
		.dir = dir,
		.name = strdup(name),
		.trust = sources->trust,
		.perf_data = perf_data,
	};
	int r = check_session(&session, err);

	if (!r && !vec_push(&sources->sessions, session))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r) {
		free(dir);
		free(session.name);
		return r;
	}
	if (!perf_data)
		hold(sources, dir);
	return 0;
}

static bool is_perf_data(const char *path)
{
	char magic[8];
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	bool is;

	if (fd < 0)
		return false;
	is = io_pread_full(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	     perf_input_is_magic(magic, sizeof(magic));
	close(fd);
	return is;
}

bool report_session_is_foreign(const struct report_session *s)
{
	struct stat st;

	if (!s->perf_data)
		return false;
	if (!strcmp(s->dir, "-"))
		return import_is_input_foreign();
	return !stat(s->dir, &st) && S_ISREG(st.st_mode) && !is_perf_data(s->dir);
}

static bool holds_perf_data(const char *dir)
{
	char *path = join(dir, "data");
	bool holds = path && is_perf_data(path);

	free(path);
	return holds;
}

int report_threads(const char *text, unsigned int *ret_nr, struct err *err)
{
	uint64_t nr = 0;

	if (text && (!parse_u64(text, &nr) || !nr))
		return err_set(err, -EINVAL, "--threads: %s is no number from 1 on",
			       text);
	*ret_nr = nr < THREADS_MAX ? (unsigned int)nr : THREADS_MAX;
	return 0;
}

/* A session named twice is counted once. */
static bool is_known(const struct report_sources *sources, const char *name)
{
	for (size_t i = 0; i < sources->sessions.nr; i++) {
		if (!strcmp(sources->sessions.at[i].name, name))
			return true;
	}
	return false;
}

/* Where the data of a word is, malloc'd; NULL: it is no source. */
static char *find_source(const char *word, bool *ret_perf_data)
{
	struct stat st;

	*ret_perf_data = true;
	if (!strcmp(word, "-"))
		return strdup(word);
	if (stat(word, &st))
		return NULL;
	/* A pipe, as the shell's <(...) makes them, can be nothing else. */
	if (S_ISFIFO(st.st_mode))
		return strdup(word);
	if (S_ISREG(st.st_mode))
		return is_perf_data(word) || import_is_foreign(word) ? strdup(word)
								     : NULL;
	if (!S_ISDIR(st.st_mode))
		return NULL;
	if (holds_perf_data(word))
		return strdup(word);
	*ret_perf_data = false;
	return session_in(word);
}

/* The archive that a word means, or NULL. */
static const char *archive_word(const char *word)
{
	static const char tag[] = "archive:";
	static const char end[] = ".oparchive";
	size_t len = strlen(word);
	struct stat st;

	if (!strncmp(word, tag, sizeof(tag) - 1))
		return word + sizeof(tag) - 1;
	return len >= sizeof(end) && !strcmp(word + len - sizeof(end) + 1, end) &&
			       !stat(word, &st) && S_ISREG(st.st_mode)
		       ? word
		       : NULL;
}

const char *report_source_archive(const char *word)
{
	const char *path = archive_word(word);

	return path ? path : word;
}

bool report_source_is_archive(const char *word)
{
	return archive_word(word);
}

bool report_source_is(const char *word)
{
	bool perf_data;
	char *dir = find_source(word, &perf_data);
	bool found = dir || archive_word(word);

	free(dir);
	return found;
}

/* 1: the word is a source and was added; 0: it is something else. */
static int add_source(struct report_sources *sources, const char *word, struct err *err)
{
	bool perf_data;
	char *dir = find_source(word, &perf_data);
	int r;

	if (!dir)
		return 0;
	if (is_known(sources, word)) {
		free(dir);
		return 1;
	}
	r = add_session(sources, dir, word, perf_data, err);
	return r ? r : 1;
}

int report_sources_sort(char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err)
{
	for (; *words; words++) {
		int r = add_source(sources, *words, err);

		if (!r)
			r = spec_add(spec, *words, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Anyone can have made the directory that happens to be in the current one, or a link of its name. */
static int find_default(enum trust trust, const char **ret_dir, struct err *err)
{
	int r = 0;

	if (!is_directory(default_dir)) {
		*ret_dir = system_dir;
		return 0;
	}
	r = check_path(default_dir, O_NOFOLLOW, trust, err);
	if (!r)
		r = check_path(default_dir, O_DIRECTORY, trust, err);
	if (!r)
		*ret_dir = default_dir;
	return r;
}

/* DIR/samples, malloc'd. */
static int find_samples(const char *session_dir, struct report_sources *sources,
			char **ret_samples, struct err *err)
{
	const char *dir = session_dir;
	char *absolute = NULL;
	char *samples;
	int r = dir ? 0 : find_default(sources->trust, &dir, err);

	if (r)
		return r;
	if (!session_dir)
		absolute = realpath(dir, NULL);
	samples = join(absolute ? absolute : dir, "samples");
	free(absolute);
	if (!samples)
		return err_set(err, -ENOMEM, "out of memory");
	if (!session_dir)
		sources->samples_dir = strdup(samples);
	*ret_samples = samples;
	return 0;
}

static int no_session(const char *where, const char *name, struct err *err)
{
	return err_set(
		err, -ENOENT,
		"No sample found: Please specify a session containing sample data "
		"(there is none in %s%s%s)",
		where, *name ? "/" : "", name);
}

static int add_named(struct report_sources *sources, const char *samples,
		     const char *name, struct err *err)
{
	bool is_path = name[0] == '/' || name[0] == '.';
	char *path = is_path ? strdup(name) : join(samples, name);
	char *dir = path ? session_in(path) : NULL;

	free(path);
	if (!dir)
		return is_path ? no_session(name, "", err)
			       : no_session(samples, name, err);
	return add_session(sources, dir, name, false, err);
}

/* The sessions that session: names, or the current one, but what session-exclude: does. */
static int add_listed(struct report_sources *sources, const struct spec *spec,
		      const char *samples, struct err *err)
{
	static char current[] = "current";
	static char *const usual[] = { current };
	const struct spec_list *list = &spec->lists[SPEC_SESSION];
	char *const *names = list->values.nr ? list->values.at : usual;
	size_t nr = list->values.nr ? list->values.nr : 1;

	for (size_t i = 0; i < nr; i++) {
		int r;

		if (!spec_wants_session(spec, names[i]) || is_known(sources, names[i]))
			continue;
		r = add_named(sources, samples, names[i], err);
		if (r)
			return r;
	}
	if (!sources->sessions.nr)
		return err_set(err, -EINVAL, "No session given: %s leaves none",
			       spec->lists[SPEC_SESSION_EXCLUDE].text);
	return 0;
}

/* Takes the archive out of the words. */
static int open_archive(char *const *words, struct report_sources *sources,
			words_vec *rest, struct err *err)
{
	for (; *words; words++) {
		const char *path = archive_word(*words);
		int r = 0;

		if (!path)
			r = vec_push(rest, *words)
				    ? 0
				    : err_set(err, -ENOMEM, "out of memory");
		else if (sources->archive)
			r = err_set(err, -EINVAL, "%s: one archive at a time", *words);
		else
			r = archive_open(path, sources->trust, &sources->archive, err);
		if (r)
			return r;
	}
	return vec_push(rest, NULL) ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static int refuse_session(const struct report_sources *sources,
			  const struct spec_list *names, struct err *err)
{
	return err_set(err, -EINVAL, "%s: the session is given already as %s",
		       names->text, sources->sessions.at[0].name);
}

/* The perf.data in a folder of the archive's samples, malloc'd; NULL: there is none. */
static char *archived_perf_data(const char *dir)
{
	char *path = join(dir, ARCHIVE_PERF_DATA);

	if (path && is_perf_data(path))
		return path;
	free(path);
	return NULL;
}

/* One session of the archive: one of ours, or a perf.data. */
static int add_one_archived(struct report_sources *sources, const char *samples,
			    const char *name, struct err *err)
{
	char *path = join(samples, name);
	char *dir = path ? archived_perf_data(path) : NULL;
	bool perf_data = dir;

	if (path && !dir)
		dir = find_source(path, &perf_data);
	free(path);
	if (!dir)
		return no_session(samples, name, err);
	return add_session(sources, dir, name, perf_data, err);
}

/* Those that session: names, or all that the archive has. */
static int add_archived(struct report_sources *sources, const struct spec *spec,
			struct err *err)
{
	const struct spec_list *list = &spec->lists[SPEC_SESSION];
	char *samples = join(archive_folder(sources->archive), ARCHIVE_SAMPLES);
	struct dirent **found = NULL;
	int nr = samples ? scandir(samples, &found, NULL, alphasort) : -1;
	int r = 0;

	for (int i = 0; i < nr; i++) {
		const char *name = found[i]->d_name;

		if (!r && name[0] != '.' && !list->values.nr &&
		    spec_wants_session(spec, name))
			r = add_one_archived(sources, samples, name, err);
		free(found[i]);
	}
	free(found);
	for (size_t i = 0; !r && i < list->values.nr; i++)
		if (spec_wants_session(spec, list->values.at[i]) &&
		    !is_known(sources, list->values.at[i]))
			r = archive_name_ok(list->values.at[i])
				    ? add_one_archived(sources, samples,
						       list->values.at[i], err)
				    : no_session("the archive", list->values.at[i],
						 err);
	if (!r && !sources->sessions.nr)
		r = no_session(samples ? samples : "", "", err);
	free(samples);
	return r;
}

static int find_rest(const char *session_dir, char *const *words, struct spec *spec,
		     struct report_sources *sources, struct err *err)
{
	const struct spec_list *names = &spec->lists[SPEC_SESSION];
	const struct spec_list *others = &spec->lists[SPEC_SESSION_EXCLUDE];
	char *samples = NULL;
	int r = report_sources_sort(words, spec, sources, err);

	if (r)
		return r;
	if (sources->sessions.nr && sources->archive)
		return err_set(err, -EINVAL, "%s: a recording beside an archive",
			       sources->sessions.at[0].name);
	if (sources->archive)
		return add_archived(sources, spec, err);
	if (sources->sessions.nr && names->values.nr)
		return refuse_session(sources, names, err);
	if (sources->sessions.nr && others->values.nr)
		return refuse_session(sources, others, err);
	if (sources->sessions.nr)
		return 0;
	r = find_samples(session_dir, sources, &samples, err);
	if (r)
		return r;
	r = add_listed(sources, spec, samples, err);
	free(samples);
	return r;
}

/* A profile of another tool becomes a session for the time of this process. */
static int make_session(struct report_sources *sources, struct report_session *s,
			size_t number, struct err *err)
{
	struct import_request request = { .path = s->dir, .trust = s->trust };
	struct import_result result;
	char *dir = NULL;
	char *segment = NULL;
	int r = 0;

	if (!sources->made)
		r = scratch_new("oprofile-import", &sources->made, err);
	if (!r && asprintf(&dir, "%s/%zu", scratch_folder(sources->made), number) < 0)
		dir = NULL;
	if (!r && dir)
		r = io_make_dirs(dir, 0700);
	if (!r && dir)
		segment = session_next_path(dir);
	request.segment = segment;
	request.jit_dir = dir;
	if (!r)
		r = segment ? import_foreign(&request, &result, err)
			    : err_set(err, -ENOMEM, "out of memory");
	free(segment);
	if (r) {
		free(dir);
		return r;
	}
	free(s->dir);
	s->dir = dir;
	s->perf_data = false;
	return 0;
}

static int make_sessions(struct report_sources *sources, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < sources->sessions.nr; i++)
		if (report_session_is_foreign(&sources->sessions.at[i]))
			r = make_session(sources, &sources->sessions.at[i], i, err);
	return r;
}

int report_sources_find(const char *session_dir, char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err)
{
	words_vec rest = { 0 };
	int r = open_archive(words, sources, &rest, err);

	if (!r)
		r = find_rest(session_dir, rest.at, spec, sources, err);
	if (!r)
		r = make_sessions(sources, err);
	vec_done(&rest);
	return r;
}

/* The flags of the first segment that can be opened. */
static uint32_t session_flags(const char *dir, enum trust trust)
{
	uint32_t flags = 0;
	bool found = false;
	char **paths;
	size_t nr;

	if (session_list(dir, &paths, &nr, NULL))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		struct segment *s;

		if (!found && !segment_open(paths[i], trust, &s, NULL)) {
			flags = segment_info(s)->flags;
			segment_close(s);
			found = true;
		}
		free(paths[i]);
	}
	free(paths);
	return flags;
}

uint32_t report_sources_flags(const struct report_sources *sources)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < sources->sessions.nr; i++)
		if (!sources->sessions.at[i].perf_data)
			flags |= session_flags(sources->sessions.at[i].dir,
					       sources->trust);
	return flags;
}

void report_sources_done(struct report_sources *sources)
{
	for (size_t i = 0; i < sources->sessions.nr; i++) {
		free(sources->sessions.at[i].dir);
		free(sources->sessions.at[i].name);
	}
	vec_done(&sources->sessions);
	for (size_t i = 0; i < sources->holds.nr; i++)
		close(sources->holds.at[i]);
	vec_done(&sources->holds);
	scratch_free(sources->made);
	sources->made = NULL;
	archive_close(sources->archive);
	sources->archive = NULL;
	free(sources->samples_dir);
	sources->samples_dir = NULL;
}
