/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/proc_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* The unparsed rest of a line. */
struct proc_maps_line {
	const char *at;
	const char *end;
	bool bad;
};

static unsigned int proc_maps_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return 16;
}

static uint64_t take_digits(struct proc_maps_line *l, unsigned int base)
{
	const char *first = l->at;
	uint64_t v = 0;

	for (; l->at < l->end; l->at++) {
		unsigned int digit = proc_maps_hex_digit(*l->at);

		if (digit >= base)
			break;
		if (v > (UINT64_MAX - digit) / base)
			l->bad = true;
		v = v * base + digit;
	}
	if (l->at == first)
		l->bad = true;
	return v;
}

/* Parses a hexadecimal number and the character `stop` after it. */
static uint64_t proc_maps_take_hex(struct proc_maps_line *l, char stop)
{
	uint64_t v = take_digits(l, 16);

	if (l->at == l->end || *l->at != stop)
		l->bad = true;
	else
		l->at++;
	return v;
}

static uint32_t take_device(struct proc_maps_line *l, char stop)
{
	uint64_t v = proc_maps_take_hex(l, stop);

	if (v > UINT32_MAX)
		l->bad = true;
	return (uint32_t)v;
}

/* Parses one letter of the permissions "rwxp". Returns `flag` if it is `letter`, or 0 if it is
 * '-'. Any other letter makes the line malformed. */
static uint32_t take_flag(struct proc_maps_line *l, char letter, uint32_t flag)
{
	char c = '\0';

	if (l->at < l->end)
		c = *l->at++;
	if (c != letter && c != '-')
		l->bad = true;
	return c == letter ? flag : 0;
}

static void take_permissions(struct proc_maps_line *l, struct proc_map *m)
{
	m->prot = take_flag(l, 'r', PROT_READ);
	m->prot |= take_flag(l, 'w', PROT_WRITE);
	m->prot |= take_flag(l, 'x', PROT_EXEC);
	if (l->end - l->at < 2 || (l->at[0] != 'p' && l->at[0] != 's') ||
	    l->at[1] != ' ') {
		l->bad = true;
		return;
	}
	m->shared = l->at[0] == 's';
	l->at += 2;
}

static void proc_maps_take_path(struct proc_maps_line *l, struct proc_map *m)
{
	static const char deleted[] = " (deleted)";
	size_t tail = sizeof(deleted) - 1;

	while (l->at < l->end && *l->at == ' ')
		l->at++;
	m->path = l->at;
	m->path_len = (size_t)(l->end - l->at);
	m->deleted = m->path_len > tail && !memcmp(l->end - tail, deleted, tail);
}

int proc_map_next(const char *text, size_t len, size_t *pos, bool is_end,
		  struct proc_map *ret_map)
{
	struct proc_map m = { 0 };
	const char *newline;
	struct proc_maps_line l;

	if (*pos >= len)
		return 1;
	l.at = text + *pos;
	newline = memchr(l.at, '\n', len - *pos);
	if (!newline && !is_end)
		return 1;
	l.end = newline ? newline : text + len;
	l.bad = false;
	*pos = (size_t)(l.end - text) + (newline != NULL);

	m.start = proc_maps_take_hex(&l, '-');
	m.end = proc_maps_take_hex(&l, ' ');
	take_permissions(&l, &m);
	m.pgoff = proc_maps_take_hex(&l, ' ');
	m.maj = take_device(&l, ':');
	m.min = take_device(&l, ' ');
	m.ino = take_digits(&l, 10);
	if (l.at < l.end && *l.at != ' ')
		l.bad = true;
	proc_maps_take_path(&l, &m);
	if (l.bad || m.end <= m.start)
		return -EBADMSG;
	*ret_map = m;
	return 0;
}
