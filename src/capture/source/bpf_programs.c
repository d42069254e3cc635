/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/bpf_programs.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/source/btf.h"

enum {
	FUNCTIONS_MAX = 1024, /* per program; the kernel's limit is 256 */
	PROGRAMS_MAX = 1 << 16,
	BTF_BYTES_MAX = 16 << 20,
	FUNC_INFO_MAX = 256 /* bytes; currently 8 */
};

struct tag {
	uint8_t at[BPF_TAG_SIZE];
};

/* The query for a program and the buffers for its results: bpf(2), BPF_OBJ_GET_INFO_BY_FD. */
struct bpf_programs_program {
	struct bpf_prog_info info;
	uint64_t *addresses;
	uint32_t *lens;
	struct tag *tags;
	uint8_t *func_info; /* NULL: only the program's own name is known */
	void *btf;          /* NULL: same */
	uint32_t btf_len;
};

static int call(int command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int get_info(int fd, void *info, uint32_t len)
{
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = len;
	attr.info.info = (uintptr_t)info;
	return call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static void program_done(struct bpf_programs_program *p)
{
	free(p->addresses);
	free(p->lens);
	free(p->tags);
	free(p->func_info);
	free(p->btf);
}

/* Allocates the buffers for `nr` functions, and stores their addresses in the query. Returns false
 * if memory is short. */
static bool bpf_programs_make_room(struct bpf_programs_program *p, uint32_t nr,
				   struct bpf_prog_info *ret_info)
{
	uint32_t rec = p->info.func_info_rec_size;
	bool named = p->info.btf_id && p->info.nr_func_info == nr &&
		     rec >= sizeof(struct bpf_func_info) && rec <= FUNC_INFO_MAX;

	p->addresses = calloc(nr, sizeof(*p->addresses));
	p->lens = calloc(nr, sizeof(*p->lens));
	p->tags = calloc(nr, sizeof(*p->tags));
	p->func_info = named ? calloc(nr, rec) : NULL;
	*ret_info = (struct bpf_prog_info){
		.nr_jited_ksyms = nr,
		.jited_ksyms = (uintptr_t)p->addresses,
		.nr_jited_func_lens = nr,
		.jited_func_lens = (uintptr_t)p->lens,
		.nr_prog_tags = nr,
		.prog_tags = (uintptr_t)p->tags,
		.nr_func_info = named ? nr : 0,
		.func_info_rec_size = named ? rec : 0,
		.func_info = (uintptr_t)p->func_info,
	};
	return p->addresses && p->lens && p->tags && (!named || p->func_info);
}

/* Reads the types that contain the names of the functions. They are optional. */
static void read_btf(struct bpf_programs_program *p)
{
	union bpf_attr attr = { .btf_id = p->info.btf_id };
	struct bpf_btf_info info = { 0 };
	int fd = call(BPF_BTF_GET_FD_BY_ID, &attr);

	if (fd < 0)
		return;
	if (!get_info(fd, &info, sizeof(info)) && info.btf_size &&
	    info.btf_size <= BTF_BYTES_MAX)
		p->btf = malloc(info.btf_size);
	if (p->btf) {
		p->btf_len = info.btf_size;
		info = (struct bpf_btf_info){ .btf = (uintptr_t)p->btf,
					      .btf_size = p->btf_len };
		if (get_info(fd, &info, sizeof(info)))
			p->btf_len = 0;
	}
	close(fd);
}

/* Reads the description of the program open at `fd`. Returns 0, 1 if the kernel does not describe
 * it, or -ENOMEM. */
static int read_program(int fd, struct bpf_programs_program *p)
{
	struct bpf_prog_info info;
	uint32_t nr;

	if (get_info(fd, &p->info, sizeof(p->info)))
		return 1;
	nr = p->info.nr_jited_ksyms;
	if (!nr || nr > FUNCTIONS_MAX)
		return 1;
	if (!bpf_programs_make_room(p, nr, &info))
		return -ENOMEM;
	if (get_info(fd, &info, sizeof(info)) || info.nr_jited_ksyms != nr ||
	    info.nr_jited_func_lens != nr || info.nr_prog_tags != nr ||
	    !info.jited_ksyms || !info.jited_func_lens)
		return 1;
	p->info = info;
	if (p->func_info)
		read_btf(p);
	return 0;
}

/* Forms the name in the same way as bpf_get_prog_name() of Linux's kernel/bpf/core.c. */
static const char *own_name(const struct bpf_programs_program *p, uint32_t at)
{
	struct bpf_func_info func;
	const char *name = NULL;

	if (p->func_info && at < p->info.nr_func_info) {
		memcpy(&func, p->func_info + (size_t)at * p->info.func_info_rec_size,
		       sizeof(func));
		name = btf_name(p->btf, p->btf_len, func.type_id);
	}
	if (name)
		return name;
	return at ? "F" : p->info.name;
}

static void bpf_programs_make_name(const struct bpf_programs_program *p, uint32_t at,
				   char ret_name[BPF_FUNCTION_NAME_MAX])
{
	const char *name = own_name(p, at);
	char tag[2 * BPF_TAG_SIZE + 1];

	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		(void)snprintf(tag + 2 * i, 3, "%02x", p->tags[at].at[i]);
	(void)snprintf(ret_name, BPF_FUNCTION_NAME_MAX, "bpf_prog_%s%s%s", tag,
		       name[0] ? "_" : "", name);
}

static int give_functions(const struct bpf_programs_program *p, bpf_function_fn fn,
			  void *ctx)
{
	struct bpf_function function;
	int r = 0;

	for (uint32_t i = 0; i < p->info.nr_jited_ksyms && !r; i++) {
		function.address = p->addresses[i];
		function.bytes = p->lens[i];
		bpf_programs_make_name(p, i, function.name);
		if (function.address && function.bytes)
			r = fn(ctx, &function);
	}
	return r;
}

/* Calls `fn` for the functions of program `id`. Returns 0, also if the program was unloaded
 * meanwhile, -ENOMEM, or the result of `fn`. */
static int give_program(uint32_t id, bpf_function_fn fn, void *ctx)
{
	union bpf_attr attr = { .prog_id = id };
	struct bpf_programs_program p = { 0 };
	int fd = call(BPF_PROG_GET_FD_BY_ID, &attr);
	int r;

	if (fd < 0)
		return 0;
	r = read_program(fd, &p);
	close(fd);
	if (!r)
		r = give_functions(&p, fn, ctx);
	program_done(&p);
	return r < 0 ? r : 0;
}

int bpf_programs_each(bpf_function_fn fn, void *ctx)
{
	union bpf_attr attr = { 0 };
	int r = 0;

	for (int i = 0; i < PROGRAMS_MAX && !r; i++) {
		attr.start_id = attr.next_id;
		if (call(BPF_PROG_GET_NEXT_ID, &attr))
			break;
		r = give_program(attr.next_id, fn, ctx);
	}
	return r;
}
