/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/image_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

static void image_names_put(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

const char *image_name_kernel(enum name_style style, const char *vmlinux)
{
	if (style == NAMES_PERF)
		return "[kernel.kallsyms]";
	return *vmlinux ? vmlinux : "/no-vmlinux";
}

/* Appends the name of a module. The recorded name is "ext4" or "[ext4]"; perf's has brackets,
 * OProfile's a slash. */
static void image_names_put_module(struct buf *out, const char *name,
				   enum name_style style)
{
	size_t len = strlen(name);

	if (len >= 2 && name[0] == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	image_names_put(out, style == NAMES_PERF ? "[" : "/");
	buf_put(out, name, len);
	if (style == NAMES_PERF)
		image_names_put(out, "]");
}

/* Returns true for executable memory without a file.  perf makes one image of it per process,
 * for the map of a JIT compiler (/tmp/perf-PID.map): is_anon_memory() and is_no_dso_memory() of
 * its map.c. */
static bool is_jit_memory(const char *name)
{
	static const char *const beginnings[] = { "//anon",         "/dev/zero",
						  "/anon_hugepage", "/SYSV",
						  "[heap",          "[stack" };

	for (size_t i = 0; i < COUNT_OF(beginnings); i++) {
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return !*name;
}

bool image_name_is_file(const char *name)
{
	return name[0] == '/' && !is_jit_memory(name);
}

static void put_jit(struct buf *out, const char *name, const struct image *image)
{
	char text[32];

	snprintf(text, sizeof(text), "[JIT] tid %" PRId32, image->pid);
	image_names_put(out, image->pid && is_jit_memory(name) ? text : name);
}

static void put_anon(struct buf *out, const char *name, const struct image *image)
{
	char range[96];

	image_names_put(out, *name && strcmp(name, "//anon") ? name : "anon");
	snprintf(range, sizeof(range),
		 " (tgid:%" PRId32 " range:0x%" PRIx64 "-0x%" PRIx64 ")", image->pid,
		 image->start, image->end);
	image_names_put(out, range);
}

/* Writes the name of the code that a JIT compiler reported for a process; OProfile's name is that
 * of the file to which it wrote the code. */
static void put_dump(struct buf *out, int32_t pid, enum name_style style)
{
	char text[32];

	snprintf(text, sizeof(text),
		 style == NAMES_OPROFILE ? "%" PRId32 ".jo" : "[JIT] tid %" PRId32,
		 pid);
	image_names_put(out, text);
}

/* Writes the name of the hypervisor's image: operf has a fixed name, perf uses the recorded one. */
static void put_hypervisor(struct buf *out, const char *name, enum name_style style)
{
	if (style == NAMES_OPROFILE)
		name = "[hypervisor_bucket]";
	image_names_put(out, *name ? name : "[unknown]");
}

void image_name_put(struct buf *out, const struct dict *d, const struct image *image,
		    enum name_style style, const char *vmlinux)
{
	const char *name = dict_str(d, image->name);

	switch (image->kind) {
	case IMAGE_KERNEL:
		image_names_put(out, image_name_kernel(style, vmlinux));
		break;
	case IMAGE_KERNEL_UNMAPPED:
		image_names_put(out, style == NAMES_PERF
					     ? "[unknown]"
					     : image_name_kernel(style, vmlinux));
		break;
	case IMAGE_MODULE:
		image_names_put_module(out, name, style);
		break;
	case IMAGE_ANON:
		if (style == NAMES_OPROFILE && image->pid)
			put_anon(out, name, image);
		else
			put_jit(out, name, image);
		break;
	case IMAGE_JIT:
		put_dump(out, image->pid, style);
		break;
	case IMAGE_LOST:
		image_names_put(out, "[damaged]");
		break;
	case IMAGE_VDSO:
		image_names_put(out, "[vdso]");
		break;
	case IMAGE_HYPERVISOR:
		put_hypervisor(out, name, style);
		break;
	case IMAGE_FILE:
		image_names_put(out, *name ? name : "[unknown]");
		if (image_is_remapped(d, image))
			image_names_put(out, " " IMAGE_REMAPPED);
		break;
	case IMAGE_BPF:
	case IMAGE_UNMAPPED:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_USER:
	case IMAGE_COUNT:
	default:
		image_names_put(out, *name ? name : "[unknown]");
		break;
	}
	buf_put_u8(out, 0);
}

const char *image_name_short(const char *name)
{
	const char *slash = name[0] == '/' ? strrchr(name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : name;
}

bool image_is_remapped(const struct dict *d, const struct image *image)
{
	return image->kind == IMAGE_FILE &&
	       !strcmp(dict_str(d, image->ref_name), IMAGE_REMAPPED);
}

bool image_is_kernel(const struct image *image)
{
	return image->kind == IMAGE_KERNEL || image->kind == IMAGE_MODULE ||
	       image->kind == IMAGE_KERNEL_UNMAPPED;
}

const char *image_origin(const struct image *image)
{
	static const char *const origins[IMAGE_COUNT] = {
		[IMAGE_KERNEL] = "[k]",
		[IMAGE_MODULE] = "[k]",
		[IMAGE_BPF] = "[k]",
		[IMAGE_GUEST_KERNEL] = "[g]",
		[IMAGE_GUEST_USER] = "[u]",
		[IMAGE_HYPERVISOR] = "[H]",
		[IMAGE_KERNEL_UNMAPPED] = "[k]",
	};
	const char *origin =
		(unsigned int)image->kind < IMAGE_COUNT ? origins[image->kind] : NULL;

	return origin ? origin : "[.]";
}
