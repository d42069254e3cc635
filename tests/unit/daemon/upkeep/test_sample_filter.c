/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/sample_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

#include "unit.h"

/* Programs /bin/a and /bin/b, both with /lib/c, and the kernel. */
struct world {
	struct dict dict;
	struct sample_filter filter;
	uint32_t a, b, c, kernel;
};

static uint32_t image(struct world *w, enum image_kind kind, const char *name)
{
	struct image image = { .kind = kind, .name = dict_string(&w->dict, name) };

	return dict_image(&w->dict, &image);
}

static void begin(struct world *w)
{
	*w = (struct world){ 0 };
	assert_int_equal(dict_init(&w->dict), 0);
	w->a = image(w, IMAGE_FILE, "/bin/a");
	w->b = image(w, IMAGE_FILE, "/bin/b");
	w->c = image(w, IMAGE_FILE, "/lib/c");
	w->kernel = image(w, IMAGE_KERNEL, "[kernel.kallsyms]");
}

static void end(struct world *w)
{
	sample_filter_done(&w->filter);
	dict_done(&w->dict);
}

static void set(struct world *w, const char *images, const char *vmlinux,
		const char *pid)
{
	struct err err = { 0 };

	sample_filter_done(&w->filter);
	assert_int_equal(
		sample_filter_set(&w->filter, images, vmlinux, pid, NULL, &err), 0);
}

static bool keeps(struct world *w, int32_t pid, uint32_t app, uint32_t at)
{
	struct thread thread = { .pid = pid, .tid = pid, .app = app };
	struct sample sample = { .thread = dict_thread(&w->dict, &thread),
				 .stack = dict_leaf(&w->dict, at, 16) };

	return sample_filter_keeps(&w->filter, &w->dict, &sample);
}

static void filters_binaries(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	set(&w, NULL, NULL, NULL);
	assert_true(keeps(&w, 1, w.a, w.c));
	set(&w, "all", "none", "none");
	assert_true(keeps(&w, 1, w.a, w.c));
	set(&w, "/bin/a,/no", "", "");
	assert_true(keeps(&w, 1, w.a, w.a));
	/* Samples of a program in libraries and in the kernel belong to it. */
	assert_true(keeps(&w, 1, w.a, w.c));
	assert_true(keeps(&w, 1, w.a, w.kernel));
	assert_false(keeps(&w, 2, w.b, w.b));
	assert_false(keeps(&w, 2, w.b, w.c));
	assert_false(keeps(&w, 3, DICT_NONE, w.kernel));
	/* A library is selected in all programs. */
	set(&w, "/lib/c", NULL, NULL);
	assert_true(keeps(&w, 1, w.a, w.c));
	assert_true(keeps(&w, 2, w.b, w.c));
	assert_false(keeps(&w, 1, w.a, w.a));
	set(&w, "/boot/vmlinux-6", "/boot/vmlinux-6", NULL);
	assert_true(keeps(&w, 3, DICT_NONE, w.kernel));
	assert_false(keeps(&w, 1, w.a, w.a));
	set(&w, "vmlinux", NULL, NULL);
	assert_true(keeps(&w, 3, DICT_NONE, w.kernel));
	end(&w);
}

static void filters_processes(void **state)
{
	struct world w;
	struct err err = { 0 };

	(void)state;
	begin(&w);
	set(&w, NULL, NULL, "7");
	assert_true(keeps(&w, 7, w.a, w.a));
	assert_false(keeps(&w, 8, w.a, w.a));
	set(&w, "/bin/a", NULL, "7");
	assert_true(keeps(&w, 7, w.a, w.c));
	assert_false(keeps(&w, 7, w.b, w.c));
	assert_false(keeps(&w, 8, w.a, w.c));
	sample_filter_done(&w.filter);
	assert_int_equal(sample_filter_set(&w.filter, NULL, NULL, "me", NULL, &err),
			 -EINVAL);
	assert_string_equal(err.text, "PID_FILTER=me: not a process id");
	assert_int_equal(sample_filter_set(&w.filter, NULL, NULL, "0", NULL, &err),
			 -EINVAL);
	end(&w);
}

/* The group of a living process is read from the system; an ended one has that of its parent. */
static void filters_groups(void **state)
{
	enum {
		GONE = 0x3ffffff0, /* above any pid */
		GONE_TOO
	};
	struct world w;
	struct err err = { 0 };
	char pgrp[16];

	(void)state;
	begin(&w);
	snprintf(pgrp, sizeof(pgrp), "%d", getpgrp());
	assert_int_equal(sample_filter_set(&w.filter, NULL, NULL, NULL, pgrp, &err), 0);
	assert_true(keeps(&w, getpid(), w.a, w.a));
	assert_false(keeps(&w, 1, w.a, w.a) && getpgid(1) != getpgrp());
	assert_false(keeps(&w, GONE, w.a, w.a));
	assert_false(keeps(&w, 0, w.a, w.a));
	sample_filter_forked(&w.filter, GONE, getpid());
	assert_true(keeps(&w, GONE, w.a, w.a));
	sample_filter_forked(&w.filter, GONE_TOO, GONE);
	assert_true(keeps(&w, GONE_TOO, w.a, w.a));
	/* Another process has the pid of the ended one now. */
	sample_filter_forked(&w.filter, GONE, GONE_TOO + 1);
	assert_false(keeps(&w, GONE, w.a, w.a));
	assert_int_equal(sample_filter_set(&w.filter, NULL, NULL, NULL, "me", &err),
			 -EINVAL);
	assert_string_equal(err.text, "PGRP_FILTER=me: not a process group id");
	end(&w);
}

/* The kernel reports the target of a link; the given name also works. */
static void resolves_links(void **state)
{
	char dir[] = "/tmp/sample-filter-XXXXXX";
	char link[64], list[80], real[4096];
	struct world w;
	uint32_t file, said;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("/proc/self/exe", link), 0);
	assert_non_null(realpath(link, real));
	snprintf(list, sizeof(list), "/no,%s", link);
	begin(&w);
	file = image(&w, IMAGE_FILE, real);
	said = image(&w, IMAGE_FILE, link);
	set(&w, list, NULL, NULL);
	assert_true(keeps(&w, 1, file, file));
	assert_true(keeps(&w, 2, said, said));
	assert_false(keeps(&w, 3, w.a, w.a));
	/* The kernel's file also matches. */
	set(&w, real, link, NULL);
	assert_true(keeps(&w, 4, w.a, w.kernel));
	end(&w);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_binaries),
		cmocka_unit_test(resolves_links),
		cmocka_unit_test(filters_processes),
		cmocka_unit_test(filters_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
