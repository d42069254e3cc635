/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/read/open.h"
#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/public_file.h"
#include "base/files/scratch.h"
#include "base/parse.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "format/perfdata/input.h"
#include "format/session/checksums.h"
#include "format/session/hold.h"
#include "format/session/session.h"
#include "import/file.h"
#include "import/foreign.h"
#include "import/odb_tree.h"
#include "recordings/session_parts.h"

enum {
	THREADS_MAX = 1 << 10
};

static const char default_dir[] = "./oprofile_data";
static const char system_dir[] = "/var/lib/oprofile";

static char *report_source_join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

typedef VEC(char *) words_vec;

/* Checks whether a path is a directory. Returns 1, 0, or a negative errno with a message in *err.
 */
static int is_directory(const char *path, struct err *err)
{
	struct stat st;

	if (!stat(path, &st))
		return S_ISDIR(st.st_mode);
	return err_is_absent(-errno) ? 0
				     : err_sys(err, -errno, "cannot stat '%s'", path);
}

/* Checks whether a directory contains segments. Returns 1, 0, or a negative errno with a message in
 * *err. */
static int has_segments(const char *dir, struct err *err)
{
	char **paths;
	size_t nr;
	int r = session_list(dir, &paths, &nr, err);

	if (r)
		return err_is_absent(r) ? 0 : r;
	session_list_free(paths, nr);
	return 1;
}

/* Returns whether a directory is a session, which can be a merged one: 1, 0, or a negative errno
 * with a message in *err. */
static int is_session(const char *dir, struct err *err)
{
	char **labels;
	size_t nr;
	int r = has_segments(dir, err);

	if (r)
		return r;
	r = session_parts(dir, &labels, &nr, err);
	if (r)
		return r;
	session_parts_free(labels, nr);
	return nr > 0;
}

/* Finds the session that a directory is or contains (malloc'd): DIR, DIR/samples/current,
 * DIR/current or, in an archive, DIR/var/lib/oprofile/samples/current; stores NULL if there is
 * none.  *ret_made_by_oprofile: its format is OProfile's.  Returns 0, or a negative errno with a
 * message in *err. */
static int session_in(const char *dir, char **ret_dir, bool *ret_made_by_oprofile,
		      struct err *err)
{
	static const char *const below[] = { "", "/samples/current", "/current",
					     "/" ARCHIVE_SAMPLES "/current" };

	*ret_dir = NULL;
	*ret_made_by_oprofile = false;
	for (size_t i = 0; i < COUNT_OF(below); i++) {
		char *path;
		int r;

		if (asprintf(&path, "%s%s", dir, below[i]) < 0)
			return err_set(err, -ENOMEM, "out of memory");
		r = is_session(path, err);
		if (!r) {
			r = import_is_odb_tree(path, err);
			*ret_made_by_oprofile = r > 0;
		}
		if (r > 0) {
			*ret_dir = path;
			return 0;
		}
		free(path);
		if (r)
			return r;
	}
	return 0;
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
	int r = fd < 0 ? err_sys(err, fd, "cannot open '%s'", path)
		       : trust_check(fd, trust, path, err);

	if (fd >= 0)
		close(fd);
	return r;
}

/* Checks whose recording it is before any output is written. The files are checked again when
 * they are opened, because a session's directory also contains files other than segments. */
static int check_session(const struct report_session *s, struct err *err)
{
	if (!s->dir || !s->name)
		return err_set(err, -ENOMEM, "out of memory");
	if (s->perf_data && !strcmp(s->dir, "-"))
		return 0;
	return check_path(s->dir, s->perf_data ? 0 : O_DIRECTORY, s->trust, err);
}

/* Adds a session that has no parts, or a perf.data. Takes ownership of `dir`. Returns 0, or a
 * negative errno with a message in *err. */
static int add_single_session(struct report_sources *sources, char *dir,
			      const char *name, bool perf_data, struct err *err)
{
	struct report_session session = {
		.dir = dir,
		.name = strdup(name),
		.trust = sources->trust,
		.perf_data = perf_data,
	};
	uint64_t nr_missing;
	int r = check_session(&session, err);

	if (r || !vec_push(&sources->sessions, session)) {
		free(dir);
		free(session.name);
		return r ? r : err_set(err, -ENOMEM, "out of memory");
	}
	/* An archive is unpacked into a private directory, whose permissions say nothing about
	 * the recording. */
	if (!sources->archive)
		sources->is_private |= !public_file_recording(dir);
	if (perf_data)
		return 0;
	hold(sources, dir);
	r = side_files_check(dir, sources->trust, &nr_missing);
	return err_is_absent(r) || !r ? 0 : err_sys(err, r, "cannot check '%s'", dir);
}

static int report_source_add_part(struct report_sources *sources, const char *dir,
				  const char *name, const char *label, struct err *err)
{
	char *part = NULL, *part_name = NULL;
	int r;

	if (asprintf(&part, "%s/" SESSION_PARTS "/%s", dir, label) < 0)
		part = NULL;
	if (asprintf(&part_name, "%s/%s", name, label) < 0)
		part_name = NULL;
	if (part && part_name) {
		r = add_single_session(sources, part, part_name, false, err);
	} else {
		free(part);
		r = err_set(err, -ENOMEM, "out of memory");
	}
	free(part_name);
	return r;
}

/* Adds a recording or, if it is a merged session, all its parts. Takes ownership of `dir`. */
static int report_source_add_session(struct report_sources *sources, char *dir,
				     const char *name, bool perf_data, struct err *err)
{
	char **labels = NULL;
	size_t nr = 0;
	int r = perf_data ? 0 : session_parts(dir, &labels, &nr, err);

	for (size_t i = 0; !r && i < nr; i++)
		r = report_source_add_part(sources, dir, name, labels[i], err);
	session_parts_free(labels, nr);
	/* Segments can have been appended to a merged session after the merge. */
	if (!r && nr)
		r = has_segments(dir, err);
	if (r < 0 || (!r && nr)) {
		free(dir);
		return r;
	}
	return add_single_session(sources, dir, name, perf_data, err);
}

bool report_session_is_of(const struct report_session *s, const char *word)
{
	const size_t len = strlen(word);

	return !strncmp(s->name, word, len) && (!s->name[len] || s->name[len] == '/');
}

/* Returns whether a compressed file contains a perf.data: 1, 0, or a negative errno without a
 * message: -EPERM if it belongs to another user, whose files are not decompressed just to
 * recognize them. */
static int report_source_is_packed(int fd, const char *path, enum trust trust)
{
	uint8_t *head;
	ssize_t n;

	if (trust_check(fd, trust, path, NULL))
		return -EPERM;
	head = malloc(PERF_PACKED_HEAD_BYTES);
	n = head ? io_pread_full(fd, head, PERF_PACKED_HEAD_BYTES, 0) : -ENOMEM;
	if (n > 0)
		n = perf_input_is_packed_magic(head, (size_t)n);
	free(head);
	return (int)n;
}

/* Checks whether a file is a perf.data. Returns 1, 0, or a negative errno without a message. */
static int report_source_is_perf_data(const char *path, enum trust trust)
{
	char magic[8];
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	ssize_t n;

	if (fd < 0)
		return err_is_absent(fd) ? 0 : fd;
	n = io_pread_full(fd, magic, sizeof(magic), 0);
	if (n > 0 && perf_input_is_packed(magic, (size_t)n))
		n = report_source_is_packed(fd, path, trust);
	else if (n >= 0)
		n = n == sizeof(magic) && perf_input_is_perf(magic, sizeof(magic));
	close(fd);
	return n == -EISDIR ? 0 : (int)n;
}

bool report_session_is_foreign(const struct report_session *s)
{
	struct stat st;

	if (!s->perf_data)
		return false;
	if (!strcmp(s->dir, "-"))
		return import_is_input_foreign();
	/* If the file cannot be read, the perf.data reader reports that. */
	if (stat(s->dir, &st))
		return false;
	return S_ISDIR(st.st_mode)
		       ? import_is_odb_tree(s->dir, NULL) > 0
		       : S_ISREG(st.st_mode) &&
				 report_source_is_perf_data(s->dir, s->trust) == 0;
}

/* Stores the path of the perf.data `name` in a directory (malloc'd), or NULL if the directory
 * has no such file. Returns 0, or a negative errno with a message in *err. */
static int find_perf_data(const char *dir, const char *name, char **ret_path,
			  struct err *err)
{
	char *path = report_source_join(dir, name);
	int r = path ? report_source_is_perf_data(path, TRUST_OWN) : -ENOMEM;

	if (r < 0)
		err_sys(err, r, "cannot read '%s'", path ? path : dir);
	*ret_path = NULL;
	if (r > 0)
		*ret_path = path;
	else
		free(path);
	return r < 0 ? r : 0;
}

int report_threads(const char *text, unsigned int *ret_nr, struct err *err)
{
	uint64_t nr = 0;

	if (text && (!parse_u64(text, &nr) || !nr))
		return err_set(err, -EINVAL,
			       "--threads: %s is not a number of at least 1", text);
	*ret_nr = nr < THREADS_MAX ? (unsigned int)nr : THREADS_MAX;
	return 0;
}

/* Returns whether a session is already in the list: a session that is named twice counts once. */
static bool report_source_is_known(const struct report_sources *sources,
				   const char *name)
{
	for (size_t i = 0; i < sources->sessions.nr; i++) {
		if (report_session_is_of(&sources->sessions.at[i], name))
			return true;
	}
	return false;
}

/* Returns whether a regular file is a recording: 1, 0, or a negative errno with a message in
 * *err. */
static int is_recording(const char *path, struct err *err)
{
	int r = report_source_is_perf_data(path, TRUST_OWN);

	if (!r)
		return import_is_foreign(path, err);
	/* The file belongs to another user: its reader refuses it later, or accepts it with
	 * --force. */
	if (r == -EPERM)
		return 1;
	/* The word can be the name of a binary, which may be unreadable. */
	if (r == -EACCES)
		return 0;
	return r < 0 ? err_sys(err, r, "cannot read '%s'", path) : r;
}

static int report_source_take_word(const char *word, char **ret_dir, struct err *err)
{
	*ret_dir = strdup(word);
	return *ret_dir ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* Stores the same as find_source() for a directory, which can contain a perf.data or a session. */
static int find_in_directory(const char *word, bool *ret_perf_data, char **ret_dir,
			     struct err *err)
{
	char *data;
	int r = find_perf_data(word, "data", &data, err);

	if (r)
		return r;
	*ret_perf_data = data;
	if (!data)
		return session_in(word, ret_dir, ret_perf_data, err);
	free(data);
	return report_source_take_word(word, ret_dir, err);
}

/* Stores the path of the recording that a word names (malloc'd), or NULL if the word is not a
 * source. Returns 0, or a negative errno with a message in *err if that cannot be determined. */
static int find_source(const char *word, bool *ret_perf_data, char **ret_dir,
		       struct err *err)
{
	struct stat st;
	int r;

	*ret_perf_data = true;
	*ret_dir = NULL;
	if (!strcmp(word, "-"))
		return report_source_take_word(word, ret_dir, err);
	if (stat(word, &st))
		return err_is_absent(-errno) || errno == EACCES
			       ? 0
			       : err_sys(err, -errno, "cannot stat '%s'", word);
	/* A pipe, such as the shell's <(...), can only be a source. */
	if (S_ISFIFO(st.st_mode))
		return report_source_take_word(word, ret_dir, err);
	if (S_ISDIR(st.st_mode))
		return find_in_directory(word, ret_perf_data, ret_dir, err);
	if (!S_ISREG(st.st_mode))
		return 0;
	r = is_recording(word, err);
	return r > 0 ? report_source_take_word(word, ret_dir, err) : r;
}

/* Returns the path of the archive that a word names, or NULL. */
static const char *archive_word(const char *word)
{
	static const char tag[] = "archive:";
	static const char end[] = ".oparchive";
	size_t len = strlen(word);
	struct stat st;

	if (!strncmp(word, tag, sizeof(tag) - 1))
		return word + sizeof(tag) - 1;
	if (len < sizeof(end) || strcmp(word + len - sizeof(end) + 1, end) != 0)
		return NULL;
	if (stat(word, &st))
		/* Opening it reports the error. */
		return err_is_absent(-errno) ? NULL : word;
	return S_ISREG(st.st_mode) ? word : NULL;
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
	char *dir = NULL;
	bool found =
		find_source(word, &perf_data, &dir, NULL) || dir || archive_word(word);

	free(dir);
	return found;
}

/* Returns 1 if the word is a source, which was added, or 0 if it is something else. */
static int report_source_add_source(struct report_sources *sources, const char *word,
				    struct err *err)
{
	bool perf_data;
	char *dir;
	int r = find_source(word, &perf_data, &dir, err);

	if (r || !dir)
		return r;
	if (report_source_is_known(sources, word)) {
		free(dir);
		return 1;
	}
	r = report_source_add_session(sources, dir, word, perf_data, err);
	return r ? r : 1;
}

int report_sources_sort(char *const *words, struct spec *spec,
			struct report_sources *sources, struct err *err)
{
	for (; *words; words++) {
		int r = report_source_add_source(sources, *words, err);

		if (!r)
			r = spec_add(spec, *words, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Finds the default session directory. Checks ./oprofile_data, because another user may have
 * created a directory or link of this name in the current directory. */
static int find_default(enum trust trust, const char **ret_dir, struct err *err)
{
	int r = is_directory(default_dir, err);

	if (r <= 0) {
		*ret_dir = system_dir;
		return r;
	}
	r = check_path(default_dir, O_NOFOLLOW, trust, err);
	if (!r)
		r = check_path(default_dir, O_DIRECTORY, trust, err);
	if (!r)
		*ret_dir = default_dir;
	return r;
}

/* Finds DIR/samples (malloc'd).  Returns 0, or a negative errno with a message in *err. */
static int report_source_find_samples(const char *session_dir,
				      struct report_sources *sources,
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
	samples = report_source_join(absolute ? absolute : dir, "samples");
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
		"No sample found: Please specify a session containing sample data (there is none in %s%s%s)",
		where, *name ? "/" : "", name);
}

static int add_named(struct report_sources *sources, const char *samples,
		     const char *name, struct err *err)
{
	bool is_path = name[0] == '/' || name[0] == '.';
	char *path = is_path ? strdup(name) : report_source_join(samples, name);
	char *dir = NULL;
	bool foreign = false;
	int r = path ? session_in(path, &dir, &foreign, err)
		     : err_set(err, -ENOMEM, "out of memory");

	free(path);
	if (r)
		return r;
	if (!dir)
		return is_path ? no_session(name, "", err)
			       : no_session(samples, name, err);
	return report_source_add_session(sources, dir, name, foreign, err);
}

/* Adds the sessions that session: names, or the current one, except those that session-exclude:
 * names. */
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

		if (!spec_wants_session(spec, names[i]) ||
		    report_source_is_known(sources, names[i]))
			continue;
		r = add_named(sources, samples, names[i], err);
		if (r)
			return r;
	}
	if (!sources->sessions.nr)
		return err_set(err, -EINVAL, "No session given: %s excludes all",
			       spec->lists[SPEC_SESSION_EXCLUDE].text);
	return 0;
}

static int report_source_open_archive(struct report_sources *sources, const char *path,
				      struct err *err)
{
	int r = archive_open(path, sources->trust, &sources->archive, err);

	if (!r)
		sources->is_private |= !public_file_recording(path);
	return r;
}

/* Opens the archive that one of the words names, if any, and copies the other words to `rest`. */
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
			r = err_set(err, -EINVAL, "'%s': only one archive can be given",
				    *words);
		else
			r = report_source_open_archive(sources, path, err);
		if (r)
			return r;
	}
	return vec_push(rest, NULL) ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static int refuse_session(const struct report_sources *sources,
			  const struct spec_list *names, struct err *err)
{
	return err_set(err, -EINVAL, "'%s': the session is already given as '%s'",
		       names->text, sources->sessions.at[0].name);
}

/* Adds one recording of the archive: a session or a perf.data. */
static int add_one_archived(struct report_sources *sources, const char *samples,
			    const char *name, struct err *err)
{
	char *path = report_source_join(samples, name);
	char *dir = NULL;
	bool perf_data;
	int r = path ? find_perf_data(path, ARCHIVE_PERF_DATA, &dir, err)
		     : err_set(err, -ENOMEM, "out of memory");

	perf_data = dir;
	if (!r && !dir)
		r = find_source(path, &perf_data, &dir, err);
	free(path);
	if (r)
		return r;
	if (!dir)
		return no_session(samples, name, err);
	return report_source_add_session(sources, dir, name, perf_data, err);
}

/* Returns whether the file is one of OProfile's logs, which are in the same directory as its
 * sessions. */
static bool is_log(const char *name)
{
	return !strcmp(name, "operf.log") || !strcmp(name, "oprofiled.log");
}

/* Returns whether samples/current is a session in OProfile's format: then it is the only default
 * session, as in OProfile. Returns 1, 0, or a negative errno with a message in *err. */
static int has_current_of_oprofile(const char *samples, const struct spec *spec,
				   struct err *err)
{
	char *path = report_source_join(samples, "current");
	int r = path ? import_is_odb_tree(path, err)
		     : err_set(err, -ENOMEM, "out of memory");

	free(path);
	return r > 0 ? spec_wants_session(spec, "current") : r;
}

/* Adds all sessions that exist and are selected. */
static int add_all_archived(struct report_sources *sources, const struct spec *spec,
			    const char *samples, struct err *err)
{
	struct dirent **found = NULL;
	int r = has_current_of_oprofile(samples, spec, err);
	int nr;

	if (r)
		return r < 0 ? r : add_one_archived(sources, samples, "current", err);
	nr = scandir(samples, &found, NULL, alphasort);
	if (nr < 0)
		return err_is_absent(-errno)
			       ? 0
			       : err_sys(err, -errno, "cannot read '%s'", samples);
	for (int i = 0; i < nr; i++) {
		const char *name = found[i]->d_name;

		if (!r && name[0] != '.' && !is_log(name) &&
		    spec_wants_session(spec, name))
			r = add_one_archived(sources, samples, name, err);
		free(found[i]);
	}
	free(found);
	return r;
}

/* Adds the sessions that session: names. */
static int add_named_archived(struct report_sources *sources, const struct spec *spec,
			      const char *samples, struct err *err)
{
	const struct spec_list *list = &spec->lists[SPEC_SESSION];
	int r = 0;

	for (size_t i = 0; !r && i < list->values.nr; i++) {
		const char *name = list->values.at[i];

		if (!spec_wants_session(spec, name) ||
		    report_source_is_known(sources, name))
			continue;
		r = archive_name_ok(name)
			    ? add_one_archived(sources, samples, name, err)
			    : no_session("the archive", name, err);
	}
	return r;
}

/* Adds the sessions that session: names, or else all sessions of the archive. */
static int add_archived(struct report_sources *sources, const struct spec *spec,
			struct err *err)
{
	char *samples =
		report_source_join(archive_folder(sources->archive), ARCHIVE_SAMPLES);
	int r;

	if (!samples)
		return err_set(err, -ENOMEM, "out of memory");
	r = spec->lists[SPEC_SESSION].values.nr
		    ? add_named_archived(sources, spec, samples, err)
		    : add_all_archived(sources, spec, samples, err);
	if (!r && !sources->sessions.nr)
		r = no_session(samples, "", err);
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
		return err_set(
			err, -EINVAL,
			"'%s': an archive cannot be combined with another recording",
			sources->sessions.at[0].name);
	if (sources->archive)
		return add_archived(sources, spec, err);
	if (sources->sessions.nr && names->values.nr)
		return refuse_session(sources, names, err);
	if (sources->sessions.nr && others->values.nr)
		return refuse_session(sources, others, err);
	if (sources->sessions.nr)
		return 0;
	r = report_source_find_samples(session_dir, sources, &samples, err);
	if (r)
		return r;
	r = add_listed(sources, spec, samples, err);
	free(samples);
	return r;
}

/* Converts another tool's profile into a session that exists as long as this process. */
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
	if (!r && !dir)
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r) {
		r = io_make_dirs(dir, 0700);
		if (r)
			err_sys(err, r, "cannot create '%s'", dir);
	}
	if (!r)
		r = session_next_path(dir, &segment, err);
	request.segment = segment;
	request.jit_dir = dir;
	request.root = archive_folder(sources->archive);
	if (!r)
		r = import_of_other_tool(&request, &result, err);
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
	if (!r &&
	    !spec_follow_links(spec, sources->archive ? archive_folder(sources->archive)
						      : sources->root))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = make_sessions(sources, err);
	vec_done(&rest);
	return r;
}

/* Adds the flags of the first segment that can be opened, if any. */
static int report_source_session_flags(const char *dir, enum trust trust,
				       uint32_t *flags, struct err *err)
{
	bool found = false;
	char **paths;
	size_t nr;
	int r = session_list(dir, &paths, &nr, err);

	/* The session can be saved or removed meanwhile; the reader reports that. */
	if (r)
		return err_is_absent(r) ? 0 : r;
	for (size_t i = 0; i < nr && !found && !r; i++) {
		struct segment *s;

		r = segment_open(paths[i], trust, &s, err);
		/* The reader reports damage and unsupported versions. */
		if (r == -EBADMSG || r == -EPROTONOSUPPORT || err_is_absent(r)) {
			r = 0;
		} else if (!r) {
			*flags |= segment_info(s)->flags;
			segment_close(s);
			found = true;
		}
	}
	session_list_free(paths, nr);
	return r;
}

int report_sources_flags(const struct report_sources *sources, uint32_t *ret_flags,
			 struct err *err)
{
	uint32_t flags = 0;
	int r = 0;

	for (size_t i = 0; !r && i < sources->sessions.nr; i++)
		if (!sources->sessions.at[i].perf_data)
			r = report_source_session_flags(sources->sessions.at[i].dir,
							sources->trust, &flags, err);
	*ret_flags = flags;
	return r;
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
