/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records.c - writes the records of unresolve.h. Layouts: perf_event_open(2),
 * <linux/perf_event.h>, for the sample_type of unresolve_attr(). */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "resolve/unresolve/priv.h"

enum {
	SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		      PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	SAMPLE_CGROUP = 1 << 21,      /* PERF_SAMPLE_CGROUP */
	MISC_MMAP_BUILD_ID = 1 << 14, /* PERF_RECORD_MISC_MMAP_BUILD_ID */
	FORK_EXEC = 1 << 13,          /* PERF_RECORD_MISC_FORK_EXEC, defined by perf */
	SW_TRACEPOINT = 0x7470,       /* "tp", far above PERF_COUNT_SW_MAX */
	ID_CPU = 0
};

uint64_t unresolve_id(uint32_t event)
{
	return (uint64_t)event + 1;
}

/* Sets type and config of an attr. perf refuses to read a tracepoint event without its format (a
 * file of tracefs that a session does not have). So a tracepoint keeps its name, but becomes a
 * software event with a number that no kernel uses. It cannot be the dummy event, for which perf
 * script prints neither addresses nor chains. */
static void set_kind(struct perf_event_attr *a, const struct event_desc *e)
{
	a->type = e->type;
	a->config = e->config;
	a->config1 = e->config1;
	a->config2 = e->config2;
	if (e->type != PERF_TYPE_TRACEPOINT)
		return;
	a->type = PERF_TYPE_SOFTWARE;
	a->config = SW_TRACEPOINT;
}

void unresolve_attr(const struct dict *d, uint32_t event, bool cgroups,
		    struct perf_event_attr *ret_attr)
{
	const struct event_desc *e = &d->events.at[event];
	bool all = !(e->flags & (EVENT_USER | EVENT_KERNEL));
	struct perf_event_attr a = {
		.size = sizeof(a),
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.inherit = 1,
		.exclude_user = !all && !(e->flags & EVENT_USER),
		.exclude_kernel = !all && !(e->flags & EVENT_KERNEL),
		.sample_id_all = 1,
	};

	set_kind(&a, e);
	if (e->frequency_hz) {
		a.freq = 1;
		a.sample_freq = e->frequency_hz;
	} else {
		a.sample_period = e->count;
	}
	if (e->flags & EVENT_CHAINS)
		a.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (cgroups)
		a.sample_type |= SAMPLE_CGROUP;
	if (!event)
		a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = a.ksymbol =
			a.cgroup = 1;
	*ret_attr = a;
}

static void put_u16(struct unresolve *u, uint16_t v)
{
	buf_put(&u->record, &v, sizeof(v));
}

static void unresolve_records_put_u32(struct unresolve *u, uint32_t v)
{
	buf_put(&u->record, &v, sizeof(v));
}

static void unresolve_records_put_u64(struct unresolve *u, uint64_t v)
{
	buf_put(&u->record, &v, sizeof(v));
}

static void put_cpu(struct unresolve *u, uint32_t cpu)
{
	unresolve_records_put_u32(u, cpu);
	unresolve_records_put_u32(u, 0);
}

static void unresolve_records_begin(struct unresolve *u, uint32_t type,
				    unsigned int misc)
{
	struct perf_event_header header = { .type = type, .misc = (uint16_t)misc };

	buf_clear(&u->record);
	buf_put(&u->record, &header, sizeof(header));
}

/* Appends the text and its NUL, padded to a multiple of 8 bytes. */
static void unresolve_records_put_text(struct unresolve *u, const char *text)
{
	static const char zeros[8];
	size_t len = strnlen(text, 4095);

	buf_put(&u->record, text, len);
	buf_put(&u->record, zeros, 8 - len % 8);
}

static int unresolve_records_end(struct unresolve *u)
{
	struct buf *b = &u->record;
	uint16_t size = (uint16_t)b->len;

	if (b->failed)
		return -ENOMEM;
	memcpy(b->data + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return u->ops->write(u->ops->ctx, b->data, b->len);
}

static int end_with_id(struct unresolve *u, const struct unresolve_id *id)
{
	unresolve_records_put_u32(u, (uint32_t)id->pid);
	unresolve_records_put_u32(u, (uint32_t)id->tid);
	unresolve_records_put_u64(u, id->time_ns);
	put_cpu(u, ID_CPU);
	unresolve_records_put_u64(u, unresolve_id(0));
	return unresolve_records_end(u);
}

/* Appends the identity of a file to an MMAP2: the build-id if there is one, or else device and
 * inode. */
static void unresolve_records_put_file(struct unresolve *u, const struct image *image)
{
	uint8_t id[24] = { image->build_id.len };

	if (image->build_id.len) {
		memcpy(id + 4, image->build_id.bytes, BUILD_ID_MAX);
		buf_put(&u->record, id, sizeof(id));
		return;
	}
	unresolve_records_put_u32(u, major(image->dev));
	unresolve_records_put_u32(u, minor(image->dev));
	unresolve_records_put_u64(u, image->inode);
	unresolve_records_put_u64(u, image->inode_gen);
}

int unresolve_write_mmap(struct unresolve *u, const struct unresolve_id *id,
			 const struct mapping *m, const struct image *image,
			 const char *path)
{
	static const struct image memory;
	const struct image *file = image->kind == IMAGE_FILE ? image : &memory;
	bool is_data = image->kind == IMAGE_ANON && !image->pid;

	unresolve_records_begin(u, PERF_RECORD_MMAP2,
				PERF_RECORD_MISC_USER |
					(file->build_id.len ? MISC_MMAP_BUILD_ID : 0));
	unresolve_records_put_u32(u, (uint32_t)id->pid);
	unresolve_records_put_u32(u, (uint32_t)id->tid);
	unresolve_records_put_u64(u, m->start);
	unresolve_records_put_u64(u, m->end - m->start);
	unresolve_records_put_u64(u, m->pgoff);
	unresolve_records_put_file(u, file);
	unresolve_records_put_u32(u, is_data ? PROT_READ : PROT_READ | PROT_EXEC);
	unresolve_records_put_u32(u, MAP_PRIVATE);
	unresolve_records_put_text(u, path);
	return end_with_id(u, id);
}

int unresolve_write_kernel(struct unresolve *u, uint16_t mode, const struct mapping *m,
			   const char *path)
{
	/* perf's pids for the host, and for a guest without one */
	const struct unresolve_id id = { .pid = mode == PERF_RECORD_MISC_KERNEL ? -1
										: 0 };

	unresolve_records_begin(u, PERF_RECORD_MMAP, mode);
	unresolve_records_put_u32(u, (uint32_t)id.pid);
	unresolve_records_put_u32(u, 0);
	unresolve_records_put_u64(u, m->start);
	unresolve_records_put_u64(u, m->end - m->start);
	unresolve_records_put_u64(u, m->pgoff);
	unresolve_records_put_text(u, path);
	return end_with_id(u, &id);
}

int unresolve_write_ksymbol(struct unresolve *u, const struct unresolve_id *id,
			    const struct image *image, bool unregister)
{
	unresolve_records_begin(u, PERF_RECORD_KSYMBOL, 0);
	unresolve_records_put_u64(u, image->start);
	unresolve_records_put_u32(u, (uint32_t)(image->end - image->start));
	put_u16(u, PERF_RECORD_KSYMBOL_TYPE_BPF);
	put_u16(u, unregister ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	unresolve_records_put_text(u, dict_str(u->dict, image->name));
	return end_with_id(u, id);
}

int unresolve_write_comm(struct unresolve *u, const struct unresolve_id *id,
			 const char *comm, bool exec)
{
	unresolve_records_begin(u, PERF_RECORD_COMM,
				exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	unresolve_records_put_u32(u, (uint32_t)id->pid);
	unresolve_records_put_u32(u, (uint32_t)id->tid);
	unresolve_records_put_text(u, comm);
	return end_with_id(u, id);
}

int unresolve_write_fork(struct unresolve *u, const struct unresolve_id *id,
			 int32_t ppid, bool known)
{
	unresolve_records_begin(u, PERF_RECORD_FORK, known ? FORK_EXEC : 0);
	unresolve_records_put_u32(u, (uint32_t)id->pid);
	unresolve_records_put_u32(u, (uint32_t)ppid);
	unresolve_records_put_u32(u, (uint32_t)id->tid);
	unresolve_records_put_u32(u, (uint32_t)ppid);
	unresolve_records_put_u64(u, id->time_ns);
	return end_with_id(u, id);
}

int unresolve_write_cgroup(struct unresolve *u, const struct unresolve_id *id,
			   uint64_t cgroup, const char *path)
{
	unresolve_records_begin(u, PERF_RECORD_CGROUP, 0);
	unresolve_records_put_u64(u, cgroup);
	unresolve_records_put_text(u, path);
	return end_with_id(u, id);
}

int unresolve_lost(struct unresolve *u, uint32_t event, uint64_t lost, uint64_t time_ns)
{
	const struct unresolve_id id = { .time_ns = time_ns };

	unresolve_records_begin(u, PERF_RECORD_LOST, 0);
	unresolve_records_put_u64(u, unresolve_id(event));
	unresolve_records_put_u64(u, lost);
	return end_with_id(u, &id);
}

int unresolve_write_sample(struct unresolve *u, const struct sample *s,
			   const struct unresolve_id *id, uint16_t cpumode, uint64_t ip,
			   uint64_t cgroup)
{
	unresolve_records_begin(u, PERF_RECORD_SAMPLE, cpumode);
	unresolve_records_put_u64(u, unresolve_id(s->event));
	unresolve_records_put_u64(u, ip);
	unresolve_records_put_u32(u, (uint32_t)id->pid);
	unresolve_records_put_u32(u, (uint32_t)id->tid);
	unresolve_records_put_u64(u, s->time_ns);
	put_cpu(u, s->cpu);
	unresolve_records_put_u64(u, s->period);
	if (u->dict->events.at[s->event].flags & EVENT_CHAINS) {
		unresolve_records_put_u64(u, u->chain.nr);
		buf_put(&u->record, u->chain.at, u->chain.nr * sizeof(uint64_t));
	}
	if (u->cgroups)
		unresolve_records_put_u64(u, cgroup);
	return unresolve_records_end(u);
}
