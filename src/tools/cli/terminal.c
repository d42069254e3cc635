/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/parse.h"

enum {
	WIDTH_DEFAULT = 80,
	WIDTH_MAX = 10000 /* wider than any screen; $COLUMNS can contain anything */
};

unsigned int terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (columns && parse_u64(columns, &width) && width)
		return width > WIDTH_MAX ? WIDTH_MAX : (unsigned int)width;
	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

bool terminal_has_escapes(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool terminal_is_foreground(int fd)
{
	return isatty(fd) && tcgetpgrp(fd) == getpgrp();
}

/* Returns whether the user's locale uses UTF-8. Uses a temporary locale object: the process stays
 * in "C", so that nothing else depends on the locale. */
static bool locale_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is;

	if (locale == (locale_t)0)
		return false;
	is = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return is;
}

/* Returns whether NO_COLOR disables colors: any value except "" does (no-color.org). */
static bool no_color(void)
{
	const char *value = getenv("NO_COLOR");

	return value && *value;
}

static int choose_colour(const char *when, bool *ret_colour, struct err *err)
{
	if (!when || !strcmp(when, "auto"))
		*ret_colour = terminal_has_escapes(STDOUT_FILENO) && !no_color();
	else if (!*when || !strcmp(when, "always"))
		*ret_colour = true;
	else if (!strcmp(when, "never"))
		*ret_colour = false;
	else
		return err_set(err, -EINVAL,
			       "invalid option --color=%s (auto, always, never)", when);
	return 0;
}

int terminal_screen(const struct terminal_options *options, bool to_stdout,
		    struct screen *ret_screen, struct err *err)
{
	struct screen s = { 0 };
	int r = choose_colour(options->color, &s.colour, err);

	if (r)
		return r;
	s.colour &= to_stdout;
	s.is_terminal = to_stdout && isatty(STDOUT_FILENO);
	if (s.is_terminal) {
		s.width = terminal_width(STDOUT_FILENO);
		s.utf8 = locale_is_utf8();
	}
	*ret_screen = s;
	return 0;
}
