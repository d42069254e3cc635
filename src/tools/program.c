/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/shell_word.h"
#include "tools/cli/command.h"
#include "tools/record/run.h"

extern const struct command command_report;

static void print_next_steps(char *const *argv)
{
	struct buf words = { 0 };

	for (; *argv; argv++) {
		buf_put_u8(&words, ' ');
		shell_word_put(&words, *argv);
	}
	buf_put_u8(&words, 0);
	fputs("\nNext:\n"
	      "  opreport --symbols               all functions\n"
	      "  opannotate --source --hottest    the source lines with the most samples\n",
	      stderr);
	if (!words.failed)
		fprintf(stderr, "  oprofile flame%s\n", (const char *)words.data);
	fputs("                                   record call stacks, and show a flame graph\n",
	      stderr);
	buf_done(&words);
}

/* Prints the hottest functions to standard error, because standard output belongs to the
 * program. */
static void print_summary(void)
{
	char name[] = "report", symbols[] = "--symbols", top[] = "--top=10",
	     pager[] = "--no-pager";
	char *words[] = { name, symbols, top, pager, NULL };

	fflush(stdout);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	(void)command_report.run(&command_report, COUNT_OF(words) - 1, words);
	fflush(stdout);
}

int program_profile(char *const *argv)
{
	char end[] = "--";
	VEC(char *) words = { 0 };
	bool kept = vec_push(&words, end), recorded = false;
	int status = 1;

	for (size_t i = 0; kept && argv[i]; i++)
		kept = vec_push(&words, argv[i]);
	if (kept && vec_push(&words, NULL))
		status = record_run(NULL, words.at, &recorded);
	else
		command_error("out of memory");
	vec_done(&words);
	if (recorded) {
		print_summary();
		print_next_steps(argv);
	}
	return status;
}

static bool program_is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Returns whether $PATH has a program of this name. */
static bool program_is_in_path(const char *name)
{
	const char *list = getenv("PATH");
	bool found = false;

	while (list && !found) {
		size_t len = strcspn(list, ":");
		char *path;

		if (asprintf(&path, "%.*s/%s", (int)len, list, name) < 0)
			return false;
		found = len && program_is_file(path);
		free(path);
		list = list[len] ? list + len + 1 : NULL;
	}
	return found;
}

char *program_hint(const char *word)
{
	char *hint;
	int len = -1;

	if (strchr(word, '/'))
		return NULL;
	if (program_is_file(word))
		len = asprintf(&hint, "to record this program: oprofile ./%s", word);
	else if (program_is_in_path(word))
		len = asprintf(&hint, "to record this program: oprofile record %s",
			       word);
	return len < 0 ? NULL : hint;
}
