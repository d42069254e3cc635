/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/odb_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "aggregate/selection/sample.h"
#include "aggregate/selection/selection.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/tree.h"
#include "base/log.h"
#include "base/parse.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "format/odb/sample_file.h"
#include "format/odb/sample_path.h"
#include "format/odb/table_check.h"
#include "format/session/session.h"
#include "import/file.h"
#include "import/foreign.h"
#include "import/odb_images.h"

enum {
	SAMPLE_FILE_MAX = 1 << 30,
	ABI_FILE_MAX = 1 << 16,
	STATS_FILE_MAX = 64,
	FLUSH_SAMPLES = 64 * 1024
};

/* An event of the tree: the event of its samples in the dict, and the one of its calls. */
struct odb_event {
	uint32_t samples; /* event number in the dict of the samples */
	uint32_t calls;
};

struct odb_import {
	const struct import_request *request;
	bool has_abi;
	struct odb_layout abi;
	struct dict dict;
	struct odb_images images;
	struct selection selection;
	struct segment_writer *writer;
	struct session_totals totals;
	struct session_info info;
	bool has_info; /* the info was set from the first sample file */
	const struct cpu_type *cpu;
	char *memory_dir; /* odb_image_facts.memory_dir for the current file; NULL: none */
	struct buf bytes;
	uint64_t files, skipped_files, damaged_files;
	uint64_t skipped;
	struct err *err;
};

int import_is_odb_tree(const char *dir, struct err *err)
{
	static const char *const tops[] = { "{root}", "{kern}" };

	for (size_t i = 0; i < COUNT_OF(tops); i++) {
		struct stat st;
		char *path;
		int r;

		if (asprintf(&path, "%s/%s", dir, tops[i]) < 0)
			return err_set(err, -ENOMEM, "out of memory");
		r = stat(path, &st) ? -errno : 0;
		free(path);
		if (!r && S_ISDIR(st.st_mode))
			return 1;
		if (r && !err_is_absent(r) && r != -EACCES)
			return err_sys(err, r, "cannot stat '%s'", dir);
	}
	return 0;
}

/* ---- the header ---- */

/* Returns the number of the CPU type in current OProfile versions. OProfile 1.0 removed types,
 * which changed the numbers of the following ones. */
static int odb_cpu_number(const struct odb_header *h)
{
	static const uint8_t removed[] = { 5, 7, 8, 9, 12, 13, 14, 15, 43, 45, 50, 55 };
	uint32_t less = 0;

	if (h->cpu_type > UINT8_MAX)
		return -1;
	if (h->version != ODB_VERSION_09)
		return (int)h->cpu_type;
	for (size_t i = 0; i < COUNT_OF(removed); i++) {
		if (removed[i] == h->cpu_type)
			return -1;
		less += removed[i] < h->cpu_type;
	}
	return (int)(h->cpu_type - less);
}

static const struct cpu_type *odb_cpu_type(const struct odb_header *h)
{
	int number = odb_cpu_number(h);
	const struct cpu_type *cpu;

	for (size_t i = 0; number >= 0 && (cpu = cpu_type_at(i)); i++)
		if (cpu->number == number)
			return cpu;
	return NULL;
}

static int odb_open_writer(struct odb_import *m, const struct odb_file *file,
			   struct err *err)
{
	struct stat st = { 0 };

	m->cpu = odb_cpu_type(&file->header);
	(void)stat(m->request->path, &st);
	m->info = (struct session_info){
		.tool_version = OPROFILE_VERSION,
		.hostname = "",
		.os_release = "",
		.machine = "",
		.cpu_desc = m->cpu ? m->cpu->title : "",
		.boot_id = "",
		.command = "",
		.vmlinux = m->images.has_kallsyms ? ODB_KALLSYMS : "",
		.cpu_mhz = file->header.cpu_mhz,
		.flags = m->info.flags | SESSION_WEIGHTED,
		.clock_id = CLOCK_MONOTONIC,
		.start_wall_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S,
	};
	if (file->layout.field_at[ODB_CPU_SPEED] % 8 == 0)
		m->info.flags |= SESSION_64BIT;
	if (file->layout.big_endian)
		m->info.flags |= SESSION_BIG_ENDIAN;
	return segment_writer_open(m->request->segment, &m->info, &m->dict, &m->writer,
				   err);
}

/* ---- events ---- */

/* Sets the descriptions of the event and its unit mask from the event lists of the CPU type. */
static void odb_describe(const struct odb_import *m, const struct odb_path *p,
			 struct event_desc *e, struct dict *d)
{
	struct event_requests reqs = { .ignore_count = true,
				       .no_host = true,
				       .cpu = m->cpu };
	const char *about = "", *mask_about = "";
	char *spec = NULL;

	if (m->cpu && !strpbrk(p->event, ",:/{} ") &&
	    asprintf(&spec, "%s:%" PRIu64 ":0x%" PRIx64, p->event, p->count,
		     p->unit_mask) < 0)
		spec = NULL;
	if (spec && !events_parse(spec, 0, &reqs, NULL) && reqs.list.nr == 1) {
		about = reqs.list.at[0].about;
		mask_about = reqs.list.at[0].mask_about;
	}
	e->about = dict_string(d, about);
	e->mask_about = dict_string(d, mask_about);
	events_done(&reqs);
	free(spec);
}

/* Finds or adds the event of a sample file.  Returns 0 or -ENOMEM. */
static int odb_event(struct odb_import *m, const struct odb_path *p,
		     const struct odb_header *header, struct odb_event *ret_event)
{
	uint32_t name = dict_string(&m->dict, p->event);
	struct event_desc e = { .name = name,
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_DUMMY,
				.config1 = m->dict.events.nr,
				.config2 = header->event,
				.flags = EVENT_USER | EVENT_KERNEL,
				.count = p->count,
				.unit_mask = p->unit_mask };

	for (uint32_t i = 0; i < m->dict.events.nr; i++) {
		const struct event_desc *old = &m->dict.events.at[i];

		if (old->name == name && old->count == e.count &&
		    old->unit_mask == e.unit_mask) {
			*ret_event = (struct odb_event){ i, i + 1 };
			return 0;
		}
	}
	if (!strcmp(p->event, "TIMER"))
		e.flags |= EVENT_TIMER;
	odb_describe(m, p, &e, &m->dict);
	ret_event->samples = dict_event(&m->dict, &e);
	e.config1++;
	e.flags |= EVENT_CALLS;
	ret_event->calls = dict_event(&m->dict, &e);
	return ret_event->samples == DICT_NONE || ret_event->calls == DICT_NONE ||
			       name == DICT_NONE
		       ? -ENOMEM
		       : 0;
}

/* ---- a sample file ---- */

static uint32_t odb_thread(struct odb_import *m, const struct odb_path *p, uint32_t app)
{
	int32_t pid = p->tgid == ODB_ALL ? 0 : p->tgid;
	int32_t tid = p->tid == ODB_ALL ? 0 : p->tid;
	const struct thread t = {
		.pid = pid,
		.tid = tid,
		.ns_pid = pid,
		.ns_tid = tid,
		.comm = dict_string(&m->dict, path_base(p->app.name)),
		.app = app,
		.cgroup = dict_string(&m->dict, ""),
	};

	return t.comm == DICT_NONE ? DICT_NONE : dict_thread(&m->dict, &t);
}

/* The images of a sample file, as indexes in m->images. */
struct odb_file_images {
	uint32_t app, image, callee;
};

static int odb_place_images(struct odb_import *m, const struct odb_path *p,
			    const struct odb_header *h,
			    struct odb_file_images *ret_images)
{
	const struct odb_image_facts own = { .is_kernel = h->is_kernel,
					     .mtime_s = h->mtime_s,
					     .anon_start = h->anon_start,
					     .memory_dir = m->memory_dir };
	const struct odb_image_facts called = { .is_kernel = h->cg_to_is_kernel,
						.anon_start = h->cg_to_anon_start };
	const struct odb_image_facts none = { 0 };
	bool same = p->app.kind == p->image.kind && !strcmp(p->app.name, p->image.name);

	ret_images->image = odb_images_place(&m->images, &p->image, &own);
	ret_images->app =
		same ? ret_images->image : odb_images_place(&m->images, &p->app, &none);
	ret_images->callee = p->callee.name
				     ? odb_images_place(&m->images, &p->callee, &called)
				     : DICT_NONE;
	return ret_images->image == DICT_NONE || ret_images->app == DICT_NONE ||
			       (p->callee.name && ret_images->callee == DICT_NONE)
		       ? -ENOMEM
		       : 0;
}

/* Returns the stack of a node: a single frame or, in a file of calls, the caller and the callee. */
static uint32_t odb_stack(struct odb_import *m, const struct odb_file_images *images,
			  uint64_t key)
{
	bool is_call = images->callee != DICT_NONE;
	/* Readers of the session look up a caller one byte before its address, because that is
	 * usually a return address. Sample files contain the address to look up, so add 1. */
	uint64_t offset = is_call ? (key >> 32) + 1 : key;
	uint32_t frame = odb_images_frame(&m->images, images->image, offset);
	uint32_t stack = frame == DICT_NONE ? DICT_NONE
					    : dict_stack(&m->dict, STACK_ROOT, frame);

	if (!is_call || stack == DICT_NONE)
		return stack;
	frame = odb_images_frame(&m->images, images->callee, (uint32_t)key);
	return frame == DICT_NONE ? DICT_NONE : dict_stack(&m->dict, stack, frame);
}

static int odb_add_nodes(struct odb_import *m, const struct odb_file *file,
			 const struct odb_file_images *images, struct sample *sample,
			 uint64_t count)
{
	for (uint32_t i = 0; i < file->nr_nodes; i++) {
		struct odb_node node = odb_file_node(file, i);
		int r;

		if (!node.value)
			continue;
		sample->stack = odb_stack(m, images, node.key);
		sample->period = (count ? count : 1) * node.value;
		if (sample->stack == DICT_NONE)
			return err_set(m->err, -ENOMEM, "out of memory");
		r = selection_wants_one(&m->selection, sample);
		if (!r && images->callee == DICT_NONE)
			m->skipped += node.value;
		if (r > 0)
			r = segment_writer_add(m->writer, sample);
		if (!r && segment_writer_pending(m->writer) >= FLUSH_SAMPLES)
			r = segment_writer_flush(m->writer, &m->totals, m->err);
		if (r < 0)
			return m->err->code ? r : err_set(m->err, r, "out of memory");
		if (images->callee == DICT_NONE)
			m->totals.samples += node.value;
	}
	return 0;
}

static int odb_add_file(struct odb_import *m, const struct odb_path *p,
			const struct odb_file *file)
{
	struct sample sample = { .cpu = p->cpu == ODB_ALL ? DICT_NONE
							  : (uint32_t)p->cpu };
	struct odb_file_images images;
	struct odb_event event;
	int r = m->writer ? 0 : odb_open_writer(m, file, m->err);

	if (r)
		return r;
	r = odb_place_images(m, p, &file->header, &images);
	if (!r)
		r = odb_event(m, p, &file->header, &event);
	if (r)
		return err_set(m->err, r, "out of memory");
	sample.event = p->callee.name ? event.calls : event.samples;
	sample.thread = odb_thread(m, p, m->images.placed.at[images.app].image);
	if (sample.thread == DICT_NONE)
		return err_set(m->err, -ENOMEM, "out of memory");
	m->files++;
	return odb_add_nodes(m, file, &images, &sample, p->count);
}

/* Reports a file that cannot be read. */
static void odb_skip(struct odb_import *m, const char *path, const char *why)
{
	char reason[ERR_TEXT_MAX + 64];

	m->skipped_files++;
	snprintf(reason, sizeof(reason), "%s; the file is skipped", why);
	fault_incomplete(path, reason);
}

static void odb_put_count(struct buf *out, uint64_t count, const char *what)
{
	if (!count)
		return;
	buf_put(out, out->len ? ", " : ": ", 2);
	buf_put_decimal(out, count);
	buf_put(out, what, strlen(what));
}

/* Reports a table that contradicts itself; its nodes count nevertheless. */
static int odb_report_table(struct odb_import *m, const char *path,
			    const struct odb_table_faults *faults)
{
	static const char begin[] =
		"its table is damaged, and counts can be wrong or missing";
	struct buf reason = { 0 };
	int r = 0;

	m->damaged_files++;
	odb_put_count(&reason, faults->wrong_links, " links to no other node");
	odb_put_count(&reason, faults->wrong_slots, " nodes in wrong chains");
	odb_put_count(&reason, faults->unlinked, " nodes in no chain");
	odb_put_count(&reason, faults->repeated, " nodes for the same offset");
	odb_put_count(&reason, faults->empty, " nodes without samples");
	odb_put_count(&reason, faults->extra_bytes, " bytes after the table");
	buf_put_u8(&reason, 0);
	if (reason.failed) {
		r = err_set(m->err, -ENOMEM, "out of memory");
	} else {
		char text[ERR_TEXT_MAX];

		snprintf(text, sizeof(text), "%s%s", begin, (char *)reason.data);
		fault_incomplete(path, text);
	}
	buf_done(&reason);
	return r;
}

static int odb_check_table(struct odb_import *m, const char *path,
			   const struct odb_file *file)
{
	struct odb_table_faults faults;

	if (odb_table_check(file, m->bytes.len, &faults))
		return err_set(m->err, -ENOMEM, "out of memory");
	return odb_table_is_faulty(&faults) ? odb_report_table(m, path, &faults) : 0;
}

static int odb_read_file(struct odb_import *m, const char *path,
			 const struct odb_path *p)
{
	struct err why = { 0 };
	struct odb_file file;
	int r;

	buf_clear(&m->bytes);
	r = io_read_regular(path, &m->bytes, SAMPLE_FILE_MAX);
	if (r == -ENOMEM)
		return err_set(m->err, r, "out of memory");
	if (r) {
		odb_skip(m, path, strerror(-r));
		return 0;
	}
	r = odb_file_open(m->bytes.data, m->bytes.len, m->has_abi ? &m->abi : NULL,
			  &file, &why);
	if (r) {
		odb_skip(m, path, why.text);
		return 0;
	}
	r = odb_check_table(m, path, &file);
	return r ? r : odb_add_file(m, p, &file);
}

/* Finds the directory .../{anon:anon} above a sample file of anonymous memory; it can contain a
 * file with code of a JIT compiler. */
static int odb_find_memory_dir(struct odb_import *m, const char *path,
			       const struct odb_path *p)
{
	static const char mark[] = "/{dep}/{anon:anon}/";
	const char *at = strstr(path, mark);

	free(m->memory_dir);
	m->memory_dir = NULL;
	if (p->image.kind != ODB_IMAGE_ANON || !at)
		return 0;
	m->memory_dir = strndup(path, (size_t)(at - path) + sizeof(mark) - 2);
	return m->memory_dir ? 0 : -ENOMEM;
}

static bool odb_ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && !strcmp(name + len - end_len, end);
}

/* Records the properties of a sample file's path that must be known before the first sample is
 * written: whether threads and CPUs are separate, and whether there is an image /proc/kallsyms. */
static void odb_note_path(struct odb_import *m, const struct odb_path *p)
{
	if (p->tgid != ODB_ALL || p->tid != ODB_ALL)
		m->info.flags |= SESSION_SEPARATE_THREAD;
	if (p->cpu != ODB_ALL)
		m->info.flags |= SESSION_SEPARATE_CPU;
	if (p->image.kind == ODB_IMAGE_FILE && !strcmp(p->image.name, ODB_KALLSYMS))
		m->images.has_kallsyms = true;
}

typedef int (*odb_path_fn)(struct odb_import *m, const char *path,
			   const struct odb_path *p);

struct odb_walk {
	struct odb_import *m;
	odb_path_fn fn; /* NULL: only call odb_note_path() */
};

static int odb_visit(void *ctx, const struct tree_entry *entry)
{
	struct odb_walk *w = ctx;
	struct err why = { 0 };
	struct odb_path p;
	int r;

	if (S_ISDIR(entry->st.st_mode))
		return !strchr(entry->below, '/') && entry->name[0] != '{' ? TREE_SKIP
									   : 0;
	if (!strchr(entry->below, '/') || odb_ends_with(entry->name, ".jo"))
		return 0;
	r = odb_path_parse(entry->below, &p, &why);
	if (r == -ENOMEM)
		return err_set(w->m->err, r, "out of memory");
	if (r) {
		if (w->fn)
			odb_skip(w->m, entry->path, why.text);
		return 0;
	}
	if (w->fn)
		r = w->fn(w->m, entry->path, &p);
	else
		odb_note_path(w->m, &p);
	odb_path_done(&p);
	return r;
}

static int odb_take_path(struct odb_import *m, const char *path,
			 const struct odb_path *p)
{
	int r = odb_find_memory_dir(m, path, p);

	return r ? err_set(m->err, r, "out of memory") : odb_read_file(m, path, p);
}

/* ---- the tree ---- */

/* Reads the `abi` file next to samples/.  Without one, or with a damaged one, the layout is
 * detected for each file. */
static int odb_read_abi(struct odb_import *m)
{
	struct err why = { 0 };
	struct buf text = { 0 };
	char *path;
	int r;

	if (asprintf(&path, "%s/../../abi", m->request->path) < 0)
		return -ENOMEM;
	r = io_read_regular(path, &text, ABI_FILE_MAX);
	if (!r) {
		r = odb_abi_parse((const char *)text.data, text.len, &m->abi, &why);
		m->has_abi = !r;
		if (r)
			log_say(LOG_WARNING,
				"cannot use '%s': %s; the layout of sample files is detected instead",
				path, why.text);
	}
	buf_done(&text);
	free(path);
	return 0;
}

/* Adds a number in stats/ to the lost samples. */
static int odb_visit_stats(void *ctx, const struct tree_entry *entry)
{
	static const char *const lost[] = {
		"lost_invalid_domain",
		"lost_kernel",
		"lost_samplefile",
		"lost_no_mapping",
		"lost_no_app_for_kernel_sample",
		"lost_no_app_for_user_sample",
		"lost_invalid_hypervisor_addr",
		"lost_records_by_kernel",
		"sample_lost_overflow",
		"sample_lost_no_mm",
		"sample_lost_no_mapping",
		"event_lost_overflow",
	};
	struct odb_import *m = ctx;
	struct buf text = { 0 };
	uint64_t v;
	bool known = false;

	for (size_t i = 0; i < COUNT_OF(lost); i++)
		known |= !strcmp(entry->name, lost[i]);
	if (!known || !S_ISREG(entry->st.st_mode))
		return 0;
	if (!io_read_regular(entry->path, &text, STATS_FILE_MAX)) {
		buf_put_u8(&text, 0);
		if (!text.failed) {
			((char *)text.data)[strcspn((char *)text.data, " \n")] = '\0';
			if (parse_u64((char *)text.data, &v) &&
			    __builtin_add_overflow(m->totals.lost, v, &m->totals.lost))
				m->totals.lost = UINT64_MAX;
		}
	}
	buf_done(&text);
	return 0;
}

static int odb_read_stats(struct odb_import *m, struct err *err)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/stats", m->request->path) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = access(path, F_OK) ? 0 : tree_walk(path, odb_visit_stats, m, err);
	free(path);
	return r;
}

static int odb_read_tree(struct odb_import *m, struct err *err)
{
	struct odb_walk note = { m, NULL }, take = { m, odb_take_path };
	struct stat st;
	int r = odb_read_abi(m);

	r = r ? err_set(err, r, "out of memory") : odb_read_stats(m, err);
	if (!r)
		r = tree_walk(m->request->path, odb_visit, &note, err);
	if (!r)
		r = tree_walk(m->request->path, odb_visit, &take, err);
	if (!r && !m->writer)
		r = err_set(err, -ENODATA,
			    "no sample files found in the session of OProfile '%s'",
			    m->request->path);
	if (!r && m->images.has_kallsyms && !stat(m->request->path, &st))
		r = odb_kallsyms_save(m->images.root, m->request->jit_dir,
				      st.st_mtim.tv_sec, err);
	return r;
}

static int odb_close_writer(struct odb_import *m, int r, struct err *err)
{
	int closed;

	if (!m->writer)
		return r;
	m->totals.finished = true;
	m->totals.target_status = -1;
	closed = segment_writer_close(m->writer, &m->totals, r ? NULL : err);
	if (r || closed)
		(void)io_unlink(m->request->segment);
	return r ? r : closed;
}

int import_odb_tree(const struct import_request *request,
		    struct import_result *ret_result, struct err *err)
{
	struct odb_import m = { .request = request, .err = err };
	int r = dict_init(&m.dict);

	m.images.dict = &m.dict;
	m.images.root = request->root ? request->root : "";
	selection_init(&m.selection, request->spec, &m.dict, "");
	r = r ? err_set(err, r, "out of memory") : odb_read_tree(&m, err);
	r = odb_close_writer(&m, r, err);
	if (!r)
		*ret_result =
			(struct import_result){ .samples = m.totals.samples - m.skipped,
						.skipped = m.skipped,
						.lost = m.totals.lost,
						.malformed = m.skipped_files +
							     m.damaged_files };
	selection_done(&m.selection);
	odb_images_done(&m.images);
	dict_done(&m.dict);
	buf_done(&m.bytes);
	free(m.memory_dir);
	return r;
}

int import_of_other_tool(const struct import_request *request,
			 struct import_result *ret_result, struct err *err)
{
	struct stat st;

	return !stat(request->path, &st) && S_ISDIR(st.st_mode)
		       ? import_odb_tree(request, ret_result, err)
		       : import_foreign(request, ret_result, err);
}
