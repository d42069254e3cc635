/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/cpus.h"

#include <ctype.h>
#include <errno.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/files/io.h"

enum {
	CPU_MAX = 1 << 20
};

static int cpus_take_number(const char **text, int *ret_v)
{
	long v = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); ++*text) {
		v = v * 10 + (**text - '0');
		if (v > CPU_MAX)
			return -EINVAL;
	}
	*ret_v = (int)v;
	return 0;
}

static int cpus_take_range(const char **text, struct cpu_list *list)
{
	int first, last;

	if (cpus_take_number(text, &first))
		return -EINVAL;
	last = first;
	if (**text == '-') {
		++*text;
		if (cpus_take_number(text, &last) || last < first)
			return -EINVAL;
	}
	for (int cpu = first; cpu <= last; cpu++)
		if (!vec_push(list, cpu))
			return -ENOMEM;
	return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *ret_list)
{
	struct cpu_list list = { 0 };
	int r = 0;

	while (!r && *text && *text != '\n') {
		r = cpus_take_range(&text, &list);
		if (!r && *text == ',')
			text++;
		else if (!r && *text && *text != '\n')
			r = -EINVAL;
	}
	if (r) {
		cpu_list_done(&list);
		return r;
	}
	*ret_list = list;
	return 0;
}

int cpu_list_online(struct cpu_list *ret_list)
{
	struct buf text = { 0 };
	int r = io_read_file("/sys/devices/system/cpu/online", &text, 1 << 16);

	if (!r) {
		buf_put_u8(&text, 0);
		r = text.failed ? -ENOMEM : cpu_list_parse((char *)text.data, ret_list);
	}
	buf_done(&text);
	return r;
}

void cpu_list_done(struct cpu_list *list)
{
	vec_done(list);
}
