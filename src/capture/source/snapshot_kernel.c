/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_kernel.c - creates the records with the addresses of the kernel and its modules. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "capture/source/bpf_programs.h"
#include "capture/source/snapshot_priv.h"
#include "capture/system/proc_modules.h"

enum {
	HEAD_BYTES = 8192, /* in most kernels, _text is among the first symbols */
	NAME_BYTES = 256,
	SYMBOLS_BYTES_MAX = 64 << 20
};

/* Returns the address of a symbol in kallsyms text ("ADDR T NAME" lines), or 0 if it is missing. */
static uint64_t symbol_address(const char *text, const char *name)
{
	char line_end[NAME_BYTES];
	const char *at;
	uint64_t address = 0;

	(void)snprintf(line_end, sizeof(line_end), " T %s\n", name);
	at = strstr(text, line_end);
	if (!at)
		return 0;
	while (at > text && at[-1] != '\n')
		at--;
	return parse_hex_at(&at, &address) ? address : 0;
}

static uint64_t text_start(const char *text)
{
	uint64_t start = symbol_address(text, "_text");

	return start ? start : symbol_address(text, "_stext");
}

/* Parses the address range of a row of /proc/iomem ("  01000000-0220bb07 : Kernel code"). Returns
 * false if no row has the name or its range is empty. */
static bool memory_row(const char *text, const char *name, uint64_t *ret_start,
		       uint64_t *ret_last)
{
	const char *at = strstr(text, name);

	while (at && at > text && at[-1] != ' ' && at[-1] != '\n')
		at--;
	return at && parse_hex_at(&at, ret_start) && *at++ == '-' &&
	       parse_hex_at(&at, ret_last) && *ret_last > *ret_start;
}

/* Returns the number of bytes from the start of the kernel's code to the end of its bss, or 0 if
 * hidden. This includes the init code, which follows the data and in which the stacks of the idle
 * tasks begin. The addresses in /proc/iomem are physical, but the range has the same size as the
 * virtual one. Reading it is cheap, while the symbols for its end come after about 100 000 lines
 * of kallsyms. */
static uint64_t kernel_bytes(void)
{
	struct buf text = { 0 };
	uint64_t start = 0;
	uint64_t last = 0;
	uint64_t bss_start;
	uint64_t bss_last;
	const char *rows = NULL;

	if (io_read_file("/proc/iomem", &text, 1 << 20) == 0) {
		buf_put_u8(&text, 0);
		rows = text.failed ? NULL : (const char *)text.data;
	}
	if (!rows || !memory_row(rows, " : Kernel code", &start, &last))
		start = last = 0;
	else if (memory_row(rows, " : Kernel bss", &bss_start, &bss_last) &&
		 bss_last > last)
		last = bss_last;
	buf_done(&text);
	return last > start ? last - start + 1 : 0;
}

/* Finds _text and the end of the code by reading all of kallsyms. */
static int search_kallsyms(uint64_t *start, uint64_t *end)
{
	static const char *const ends[] = { "_etext", "_einittext" };
	struct buf text = { 0 };
	int r;

	r = io_read_file("/proc/kallsyms", &text, SYMBOLS_BYTES_MAX);
	if (r == 0) {
		buf_put_u8(&text, 0);
		r = text.failed ? -ENOMEM : 0;
	}
	if (r == 0) {
		*start = text_start((const char *)text.data);
		*end = 0;
		for (size_t i = 0; i < COUNT_OF(ends); i++) {
			uint64_t at = symbol_address((const char *)text.data, ends[i]);

			*end = at > *end ? at : *end;
		}
	}
	buf_done(&text);
	return r;
}

/* Returns true if all addresses are zero (kptr_restrict). A single one can be zero, such as
 * that of a per-cpu symbol. */
static bool addresses_hidden(const char *text)
{
	for (const char *at = text; at; at = strchr(at, '\n')) {
		uint64_t address = 0;

		at += *at == '\n';
		if (parse_hex_at(&at, &address) && address)
			return false;
	}
	return true;
}

static int snapshot_kernel_read_head(char head[HEAD_BYTES])
{
	ssize_t n;
	int fd;

	fd = io_open("/proc/kallsyms", O_RDONLY, 0);
	if (fd < 0)
		return fd;
	n = read(fd, head, HEAD_BYTES - 1);
	if (n < 0)
		n = -errno;
	(void)close(fd);
	if (n < 0)
		return (int)n;
	head[n] = '\0';
	return addresses_hidden(head) ? -EACCES : 0;
}

static int snapshot_kernel_find_text(uint64_t *ret_start, uint64_t *ret_end)
{
	char head[HEAD_BYTES];
	uint64_t start;
	uint64_t end;
	int r;

	r = snapshot_kernel_read_head(head);
	if (r < 0)
		return r;
	start = text_start(head);
	end = start ? start + kernel_bytes() : 0;
	if (end == start) {
		r = search_kallsyms(&start, &end);
		if (r < 0)
			return r;
	}
	if (!start || end <= start)
		return -EACCES;
	*ret_start = start;
	*ret_end = end;
	return 0;
}

int snapshot_kernel_text(uint64_t *ret_start, uint64_t *ret_end)
{
	static struct { /* cached, because the kernel's address never changes */
		uint64_t start, end;
	} known;
	int r;

	if (!known.start) {
		r = snapshot_kernel_find_text(&known.start, &known.end);
		if (r < 0)
			return r;
	}
	*ret_start = known.start;
	*ret_end = known.end;
	return 0;
}

static int snapshot_kernel_put_module(struct snapshot *s, const struct proc_module *m)
{
	char name[PROC_MODULE_NAME_MAX + 2];

	if (!m->address || !m->bytes)
		return 0;
	(void)snprintf(name, sizeof(name), "[%s]", m->name);
	return snapshot_put_kernel_mmap(s, m->address, m->bytes, 0, name);
}

int snapshot_module(struct snapshot *s, const struct proc_module *m, uint64_t time_ns)
{
	s->time_ns = time_ns;
	return snapshot_kernel_put_module(s, m);
}

int snapshot_cgroup(struct snapshot *s, uint64_t id, pid_t pid)
{
	char path[CGROUP_PATH_MAX];
	int r = cgroups_path(&s->cgroups, id, pid, path);

	s->time_ns = 0;
	return r ? r : snapshot_put_cgroup(s, id, path);
}

int snapshot_process_cgroup(struct snapshot *s, pid_t pid, uint64_t *ret_id)
{
	char path[CGROUP_PATH_MAX];
	int r = cgroups_of_process(&s->cgroups, pid, ret_id, path);

	s->time_ns = 0;
	return r ? r : snapshot_put_cgroup(s, *ret_id, path);
}

static int snapshot_kernel_put_modules(struct snapshot *s)
{
	struct buf text = { 0 };
	struct proc_module m;
	const char *at;
	int r;

	r = io_read_file("/proc/modules", &text, 16 << 20);
	if (r == -ENOENT) { /* the kernel has no modules */
		buf_done(&text);
		return 0;
	}
	if (r == 0) {
		buf_put_u8(&text, 0);
		r = text.failed ? -ENOMEM : 0;
	}
	at = (const char *)text.data;
	while (r == 0 && proc_modules_next(&at, &m))
		r = snapshot_kernel_put_module(s, &m);
	buf_done(&text);
	return r;
}

static int put_bpf(void *ctx, const struct bpf_function *f)
{
	return snapshot_put_ksymbol(ctx, f->address, f->bytes, f->name);
}

int snapshot_kernel(struct snapshot *s, struct err *err)
{
	uint64_t start;
	uint64_t end;
	int r;

	s->time_ns = 0; /* the kernel existed before everything else */
	r = snapshot_kernel_text(&start, &end);
	if (r < 0)
		return err_sys(err, r, "cannot read '/proc/kallsyms'");
	r = snapshot_put_kernel_mmap(s, start, end - start, start,
				     "[kernel.kallsyms]_text");
	if (r == 0)
		r = snapshot_kernel_put_modules(s);
	if (r == 0)
		r = bpf_programs_each(put_bpf, s);
	return r < 0 ? err_sys(err, r,
			       "cannot read the addresses of the kernel and its modules")
		     : 0;
}
