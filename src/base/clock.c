/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/parse.h"

enum {
	OFFSETS_MAX = 256
};

/* How much later the clocks of this process are than those of the initial time namespace. */
static struct clock_offsets own_offsets;
static pthread_once_t own_offsets_once = PTHREAD_ONCE_INIT;

/* Parses a number with an optional sign at *at, and moves *at past it. Returns false if there is
 * none. */
static bool parse_signed(char **at, uint64_t *ret_number)
{
	char *word = strsep(at, " ");
	bool is_negative;

	while (word && !*word)
		word = strsep(at, " ");
	is_negative = word && *word == '-';
	if (!word || !parse_u64(word + is_negative, ret_number))
		return false;
	if (is_negative)
		*ret_number = -*ret_number;
	return true;
}

static void parse_offset(char *line, struct clock_offsets *offsets)
{
	const char *name = strsep(&line, " ");
	uint64_t s, ns;

	if (!parse_signed(&line, &s) || !parse_signed(&line, &ns))
		return;
	if (!strcmp(name, "monotonic"))
		offsets->monotonic_ns = s * (uint64_t)NS_PER_S + ns;
	else if (!strcmp(name, "boottime"))
		offsets->boottime_ns = s * (uint64_t)NS_PER_S + ns;
}

void clock_parse_offsets(const char *text, struct clock_offsets *ret_offsets)
{
	char copy[OFFSETS_MAX], *at = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	*ret_offsets = (struct clock_offsets){ 0 };
	while (at)
		parse_offset(strsep(&at, "\n"), ret_offsets);
}

/* Returns whether /proc/self/timens_offsets applies to this process: the file has the offsets of
 * the time namespace of the process's children, which can be another one. */
static bool is_in_namespace_of_children(void)
{
	struct stat own, children;

	return !stat("/proc/self/ns/time", &own) &&
	       !stat("/proc/self/ns/time_for_children", &children) &&
	       own.st_dev == children.st_dev && own.st_ino == children.st_ino;
}

/* Kernels before 5.6 have no time namespaces. */
static void read_own_offsets(void)
{
	FILE *f = is_in_namespace_of_children()
			  ? fopen("/proc/self/timens_offsets", "re")
			  : NULL;
	char text[OFFSETS_MAX];
	size_t len;

	if (!f)
		return;
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	clock_parse_offsets(text, &own_offsets);
	fclose(f);
}

uint64_t clock_initial_ns(clockid_t clock)
{
	(void)pthread_once(&own_offsets_once, read_own_offsets);
	return clock_now_ns(clock) -
	       (clock == CLOCK_MONOTONIC  ? own_offsets.monotonic_ns
		: clock == CLOCK_BOOTTIME ? own_offsets.boottime_ns
					  : 0);
}

uint64_t clock_initial_boottime_ns(uint64_t boottime_ns)
{
	(void)pthread_once(&own_offsets_once, read_own_offsets);
	return boottime_ns - own_offsets.boottime_ns;
}
