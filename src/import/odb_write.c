/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/odb_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/count/tally.h"
#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "aggregate/selection/session_span.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "capture/events/cpu_types.h"
#include "format/archive/manifest.h"
#include "format/odb/sample_file.h"
#include "format/odb/sample_path.h"
#include "format/session/session.h"

enum {
	CPU_NONE = (1 << TALLY_CPU_BITS) - 1,
	EVENT_MASK = (1 << TALLY_EVENT_BITS) - 1
};

/* ---- images ---- */

/* An image as sample files represent it. */
struct odb_place {
	struct odb_image image; /* its name is borrowed */
	uint64_t bias;          /* subtracted from offsets in the image */
	bool is_kernel;
	uint64_t mtime_s;
};

static const char *odb_kernel_path(const struct odb_writer *x)
{
	return x->info->vmlinux[0] == '/' ? x->info->vmlinux : "/proc/kallsyms";
}

/* Returns the modification time of a binary in seconds. If the recording does not contain it, uses
 * that of the file. */
static uint64_t odb_mtime(const struct image *image, const char *name)
{
	struct stat st;

	if (image->mtime_ns)
		return image->mtime_ns / NS_PER_S;
	return name[0] == '/' && !fault_stat(name, &st) ? (uint64_t)st.st_mtim.tv_sec
							: 0;
}

/* Returns `text` as a non-const pointer for struct odb_image. The image borrows it: the name is
 * neither changed nor freed. */
static char *odb_borrow(const char *text)
{
	char *name;

	memcpy(&name, &text, sizeof(name));
	return name;
}

static struct odb_image odb_memory(const char *name, const struct image *image)
{
	return (struct odb_image){ .kind = ODB_IMAGE_ANON,
				   .name = odb_borrow(name),
				   .pid = image->pid > 0 ? image->pid : 0,
				   .start = image->start,
				   .end = image->end };
}

/* Converts an image of the dict. Returns false for code that sample files cannot represent. */
static bool odb_place(const struct odb_writer *x, uint32_t number,
		      struct odb_place *ret_place)
{
	const struct image *image =
		number < x->dict->images.nr ? &x->dict->images.at[number] : NULL;
	const char *name = image ? dict_str(x->dict, image->name) : "";
	struct odb_place p = { .image = { .kind = ODB_IMAGE_FILE,
					  .name = odb_borrow(name) } };

	switch (image ? image->kind : IMAGE_LOST) {
	case IMAGE_FILE:
		p.mtime_s = odb_mtime(image, name);
		if (name[0] != '/')
			p.image.kind = ODB_IMAGE_KERNEL;
		break;
	case IMAGE_KERNEL:
	case IMAGE_KERNEL_UNMAPPED:
		p.is_kernel = true;
		p.image.name = odb_borrow(odb_kernel_path(x));
		if (image->kind == IMAGE_KERNEL_UNMAPPED ||
		    (!image->start && !(x->info->flags & SESSION_WEIGHTED)) ||
		    (x->info->flags & SESSION_WEIGHTED && !x->info->vmlinux[0])) {
			p.image.kind = ODB_IMAGE_KERNEL;
			p.image.name = odb_borrow("no-vmlinux");
		}
		break;
	case IMAGE_MODULE:
	case IMAGE_BPF:
		p.is_kernel = true;
		p.image.kind = ODB_IMAGE_KERNEL;
		break;
	case IMAGE_ANON:
		p.image = odb_memory(strcmp(name, "//anon") ? name : "anon", image);
		p.bias = image->ref_address;
		break;
	case IMAGE_VDSO:
		p.image = odb_memory("[vdso]", image);
		break;
	case IMAGE_LOST:
	case IMAGE_UNMAPPED:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_USER:
	case IMAGE_HYPERVISOR:
	case IMAGE_JIT:
	case IMAGE_COUNT:
	default:
		return false;
	}
	if (strchr(p.image.name, '}') ||
	    (p.image.kind != ODB_IMAGE_FILE && strchr(p.image.name, '/')))
		return false;
	/* Names become parts of paths. They are untrusted, because programs choose the names of
	 * their memory and files. */
	if (p.image.kind == ODB_IMAGE_FILE
		    ? p.image.name[0] != '/' || !archive_name_ok(p.image.name + 1)
		    : !archive_name_ok(p.image.name))
		return false;
	*ret_place = p;
	return true;
}

/* ---- files ---- */

static int odb_export_cpu(const struct session_info *info)
{
	const struct cpu_type *cpu;

	for (size_t i = 0; (cpu = cpu_type_at(i)); i++)
		if (cpu->number >= 0 && !strcmp(cpu->title, info->cpu_desc))
			return cpu->number;
	cpu = cpu_type_host();
	return cpu && cpu->number >= 0 ? cpu->number : 0;
}

static struct odb_made *odb_find_file(struct odb_writer *x, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path), 0);

	for (uint64_t turn = 0;; turn++) {
		struct odb_made *made;
		bool is_new;
		struct map_slot *slot = map_at(&x->file_by, hash, turn, &is_new);

		if (!slot)
			return NULL;
		if (!is_new && !strcmp(x->files.at[slot->value_plus_1 - 1].path, path))
			return &x->files.at[slot->value_plus_1 - 1];
		if (!is_new)
			continue;
		if (!vec_push(&x->files, (struct odb_made){ 0 }))
			return NULL;
		slot->value_plus_1 = (uint32_t)x->files.nr;
		made = &x->files.at[x->files.nr - 1];
		made->path = strdup(path);
		return made->path ? made : NULL;
	}
}

/* Returns the event's name without dots and slashes, which separate the fields of a path
 * (malloc'd). */
static char *odb_event_name(const char *name)
{
	char *copy = strdup(name);

	for (char *at = copy; at && *at; at++)
		if (strchr("./{} ", *at))
			*at = '_';
	return copy;
}

/* A thread, event and processor of the current segment. */
struct odb_where {
	const struct thread *thread;
	const struct event_desc *event;
	uint32_t cpu;
};

static int32_t odb_number(const struct odb_writer *x, uint32_t flag, int64_t number)
{
	return x->info->flags & flag && number >= 0 ? (int32_t)number : ODB_ALL;
}

/* Finds the sample file for samples in `own` or, if `callee` is not NULL, for calls from `own`.
 * Returns NULL if memory is short. */
static struct odb_made *odb_file_of(struct odb_writer *x, const struct odb_where *w,
				    const struct odb_place *own,
				    const struct odb_place *callee)
{
	struct odb_place app;
	struct odb_path path = {
		.image = own->image,
		.event = odb_event_name(dict_str(x->dict, w->event->name)),
		.count = w->event->count,
		.unit_mask = w->event->unit_mask,
		.tgid = odb_number(x, SESSION_SEPARATE_THREAD, w->thread->pid),
		.tid = odb_number(x, SESSION_SEPARATE_THREAD, w->thread->tid),
		.cpu = odb_number(x, SESSION_SEPARATE_CPU,
				  w->cpu == CPU_NONE ? -1 : (int64_t)w->cpu),
	};
	struct odb_made *file = NULL;
	struct buf text = { 0 };

	/* OProfile's paths cannot express an application without a file. */
	path.app = odb_place(x, w->thread->app, &app) ? app.image : own->image;
	if (path.app.kind == ODB_IMAGE_ANON)
		path.app = (struct odb_image){ .kind = ODB_IMAGE_KERNEL,
					       .name = odb_borrow("unknown") };
	if (callee)
		path.callee = callee->image;
	if (path.event)
		odb_path_put(&path, &text);
	buf_put_u8(&text, 0);
	if (path.event && !text.failed)
		file = odb_find_file(x, (const char *)text.data);
	if (file && !file->header.version)
		file->header = (struct odb_header){
			.version = ODB_VERSION,
			.cpu_type = (uint32_t)odb_export_cpu(x->info),
			.event = x->info->flags & SESSION_WEIGHTED
					 ? (uint32_t)w->event->config2
					 : (uint32_t)(w->event->config & 0xff),
			.unit_mask = (uint32_t)w->event->unit_mask,
			.count = (uint32_t)w->event->count,
			.is_kernel = own->is_kernel,
			.cg_to_is_kernel = callee && callee->is_kernel,
			.cpu_mhz = x->info->cpu_mhz,
			.mtime_s = own->mtime_s,
			.anon_start = own->image.start,
			.cg_to_anon_start = callee ? callee->image.start : 0,
		};
	free(path.event);
	buf_done(&text);
	return file;
}

static int odb_count(struct odb_writer *x, struct odb_made *file, uint64_t key,
		     uint64_t samples)
{
	bool is_new;
	struct map_slot *slot = map_at(&file->by, key, 0, &is_new);
	struct odb_node *node;

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		if (!vec_push(&file->nodes, (struct odb_node){ .key = key }))
			return -ENOMEM;
		slot->value_plus_1 = (uint32_t)file->nodes.nr;
	}
	node = &file->nodes.at[slot->value_plus_1 - 1];
	if (samples > UINT32_MAX - node->value) {
		x->overflowed = true;
		samples = UINT32_MAX - node->value;
	}
	node->value += (uint32_t)samples;
	return 0;
}

/* ---- samples ---- */

static int odb_add_sample(struct odb_writer *x, const struct odb_where *w,
			  uint32_t stack, uint64_t samples)
{
	const struct frame *f = &x->dict->frames.at[x->dict->stacks.at[stack].frame];
	struct odb_place place;
	struct odb_made *file;

	if (!odb_place(x, f->image, &place)) {
		x->unmapped += samples;
		return 0;
	}
	file = odb_file_of(x, w, &place, NULL);
	x->samples += samples;
	return file ? odb_count(x, file, f->offset - place.bias, samples) : -ENOMEM;
}

/* Adds each call of a stack. The offset of a caller is a return address, which can belong to the
 * next function, so stores the offset one byte before it. */
static int odb_add_calls(struct odb_writer *x, const struct odb_where *w,
			 uint32_t stack, uint64_t samples)
{
	const struct dict *d = x->dict;
	bool is_leaf = true;
	int r = 0;

	for (; !r && d->stacks.at[stack].parent >= STACK_FIRST; is_leaf = false) {
		const struct frame *to = &d->frames.at[d->stacks.at[stack].frame];
		const struct frame *from;
		struct odb_place caller, callee;
		struct odb_made *file;
		uint64_t key;

		stack = d->stacks.at[stack].parent;
		if (d->stacks.at[stack].frame >= d->frames.nr)
			break;
		from = &d->frames.at[d->stacks.at[stack].frame];
		if (!odb_place(x, from->image, &caller) ||
		    !odb_place(x, to->image, &callee))
			continue;
		key = (from->offset - 1 - caller.bias) << 32 |
		      (uint32_t)(to->offset - !is_leaf - callee.bias);
		file = odb_file_of(x, w, &caller, &callee);
		r = file ? odb_count(x, file, key, samples) : -ENOMEM;
	}
	return r;
}

static int odb_take_cell(struct odb_writer *x, const struct tally_cell *cell)
{
	static const struct thread nobody = { .pid = -1, .tid = -1, .app = DICT_NONE };
	const struct dict *d = x->dict;
	uint32_t thread = (uint32_t)(cell->a >> 32), stack = (uint32_t)cell->a;
	uint32_t event = (uint32_t)cell->b & EVENT_MASK;
	struct odb_where w = {
		.thread = thread < d->threads.nr ? &d->threads.at[thread] : &nobody,
		.cpu = (uint32_t)(cell->b >> TALLY_EVENT_BITS) & CPU_NONE
	};
	int r = 0;

	if (event >= d->events.nr || stack >= d->stacks.nr ||
	    d->stacks.at[stack].frame >= d->frames.nr) {
		x->unmapped += cell->samples;
		return 0;
	}
	w.event = &d->events.at[event];
	if (!(w.event->flags & EVENT_CALLS))
		r = odb_add_sample(x, &w, stack, cell->samples);
	return r ? r : odb_add_calls(x, &w, stack, cell->samples);
}

static int odb_tally(struct odb_writer *x, struct selection *s, struct tally *t,
		     const struct sample_batch *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		uint32_t event = b->event[i], cpu = b->cpu[i];
		uint64_t weight;
		int wanted = selection_wants_sample(s, b, i);

		if (wanted < 0)
			return wanted;
		if (!wanted || event >= x->dict->events.nr || event >= EVENT_MASK)
			continue;
		weight = session_sample_weight(x->info, &x->dict->events.at[event],
					       b->period[i]);
		cpu = cpu < CPU_NONE ? cpu : CPU_NONE;
		if (tally_add_many(t, (uint64_t)b->thread[i] << 32 | b->stack[i],
				   event | (uint64_t)cpu << TALLY_EVENT_BITS, weight,
				   0))
			return -ENOMEM;
	}
	return 0;
}

static int odb_read_samples(struct odb_writer *x, struct segment *s,
			    struct session_span *span, struct err *err)
{
	struct selection selection;
	struct tally t = { 0 };
	int r;

	session_span_set_wall(span, x->info);
	selection_init(&selection, x->spec, x->dict, x->info->vmlinux);
	r = selection_set_times(&selection, span);
	if (!r && !selection.times_known)
		r = err_set(
			err, -ENODATA,
			"time: percentages need known start and end times of the samples: give seconds, such as time:1.5s-3s");
	while (!r) {
		struct sample_batch b;

		r = segment_next(s, COLUMN_ALL, &b, err);
		if (!r && odb_tally(x, &selection, &t, &b))
			r = -ENOMEM;
	}
	if (r > 0)
		r = tally_finish(&t);
	for (size_t i = 0; !r && i < t.nr_cells; i++)
		r = odb_take_cell(x, &t.cells[i]);
	tally_done(&t);
	selection_done(&selection);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

static int odb_read_segment(struct odb_writer *x, const char *path, enum trust trust,
			    struct session_span *span, struct err *err)
{
	struct segment *s;
	int r = segment_open(path, trust, &s, err);

	if (r)
		return r;
	x->dict = segment_dict(s);
	x->info = segment_info(s);
	if (!span->start_ns)
		span->start_ns = x->info->start_ns;
	r = odb_read_samples(x, s, span, err);
	x->lost += segment_totals(s)->lost + segment_totals(s)->dropped;
	x->is_incomplete |= segment_damage_any(segment_damage(s));
	segment_close(s);
	return r;
}

int odb_writer_read(struct odb_writer *x, const char *dir, enum trust trust,
		    struct err *err)
{
	struct session_span span = { 0 };
	char **paths;
	size_t nr;
	int r = session_list(dir, &paths, &nr, err);

	for (size_t i = 0; !r && i < nr; i++)
		r = odb_read_segment(x, paths[i], trust, &span, err);
	if (nr)
		session_list_free(paths, nr);
	return r;
}

/* ---- the directory ---- */

static int odb_write_bytes(const char *path, const struct buf *bytes, struct err *err)
{
	char *dir = strdup(path);
	int r = dir ? 0 : -ENOMEM;

	if (dir)
		*strrchr(dir, '/') = '\0';
	if (!r)
		r = io_make_dirs(dir, RECORDING_DIR_MODE);
	if (!r)
		r = io_write_file(path, bytes->data, bytes->len, RECORDING_FILE_MODE);
	free(dir);
	return r ? err_sys(err, r, "cannot write '%s'", path) : 0;
}

/* Writes DIR/BELOW with a number, or with the given bytes. */
static int odb_write(const char *dir, const char *below, const struct buf *bytes,
		     struct err *err)
{
	char *path;
	int r;

	if (bytes->failed || asprintf(&path, "%s/%s", dir, below) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = odb_write_bytes(path, bytes, err);
	free(path);
	return r;
}

static int odb_write_number(const char *dir, const char *below, uint64_t number,
			    struct err *err)
{
	struct buf text = { 0 };
	int r;

	buf_put_decimal(&text, number);
	buf_put_u8(&text, '\n');
	r = odb_write(dir, below, &text, err);
	buf_done(&text);
	return r;
}

static int odb_write_all(const struct odb_writer *x, const char *dir, struct err *err)
{
	struct odb_layout layout =
		odb_layout_of(ODB_VERSION, sizeof(long) == sizeof(uint64_t),
			      __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
	struct buf bytes = { 0 };
	int r;

	odb_abi_put(&layout, &bytes);
	r = odb_write(dir, "abi", &bytes, err);
	for (size_t i = 0; !r && i < x->files.nr; i++) {
		const struct odb_made *file = &x->files.at[i];
		char *below;

		buf_clear(&bytes);
		odb_file_put(&layout, &file->header, &file->nodes, &bytes);
		if (asprintf(&below, "samples/current/%s", file->path) < 0) {
			r = err_set(err, -ENOMEM, "out of memory");
			break;
		}
		r = odb_write(dir, below, &bytes, err);
		free(below);
	}
	buf_done(&bytes);
	if (!r)
		r = odb_write_number(dir, "samples/current/stats/total_samples",
				     x->samples, err);
	if (!r)
		r = odb_write_number(dir, "samples/current/stats/lost_no_mapping",
				     x->unmapped, err);
	return r ? r
		 : odb_write_number(dir, "samples/current/stats/lost_records_by_kernel",
				    x->lost, err);
}

int odb_writer_write(const struct odb_writer *x, const char *dir, struct err *err)
{
	int fd = output_make_dir(dir, RECORDING_DIR_MODE, err);
	int r;

	if (fd < 0)
		return fd;
	/* From now on, no path leads out of the directory. */
	r = guard_add_all(dir, fd);
	close(fd);
	if (r)
		return err_sys(err, r, "cannot write '%s'", dir);
	r = odb_write_all(x, dir, err);
	guard_drop_path(dir);
	return r;
}

void odb_writer_done(struct odb_writer *x)
{
	for (size_t i = 0; i < x->files.nr; i++) {
		free(x->files.at[i].path);
		vec_done(&x->files.at[i].nodes);
		map_done(&x->files.at[i].by);
	}
	vec_done(&x->files);
	map_done(&x->file_by);
}
