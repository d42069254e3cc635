/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_records.c - builds the records of a snapshot. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/source/snapshot_priv.h"

/* Layouts of the records: perf_event_open(2), "MMAP layout".  All values are in this machine's
 * byte order and padded to 8 bytes. */
enum {
	RECORD_MAX = 65528, /* header.size has 16 bits */
	RECORD_TAIL_MAX = 6 * sizeof(uint64_t)
};

static void snapshot_records_put_u32(struct snapshot *s, uint32_t v)
{
	buf_put(&s->record, &v, sizeof(v));
}

static void snapshot_records_put_u64(struct snapshot *s, uint64_t v)
{
	buf_put(&s->record, &v, sizeof(v));
}

static void snapshot_records_put_text(struct snapshot *s, const char *text, size_t len)
{
	static const char zeros[8];
	size_t room = RECORD_MAX - RECORD_TAIL_MAX - s->record.len - sizeof(zeros);

	if (len > room)
		len = room;
	buf_put(&s->record, text, len);
	buf_put(&s->record, zeros, sizeof(zeros) - s->record.len % sizeof(zeros));
}

static void begin_record(struct snapshot *s, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	buf_clear(&s->record);
	buf_put(&s->record, &header, sizeof(header));
}

/* Appends the fields that sample_id_all requires, and passes the record to the sink. */
static int end_record(struct snapshot *s, pid_t pid, pid_t tid)
{
	uint64_t type = s->config.sample_type;
	struct perf_event_header header;

	if (type & PERF_SAMPLE_TID) {
		snapshot_records_put_u32(s, (uint32_t)pid);
		snapshot_records_put_u32(s, (uint32_t)tid);
	}
	if (type & PERF_SAMPLE_TIME)
		snapshot_records_put_u64(s, s->time_ns);
	if (type & PERF_SAMPLE_ID)
		snapshot_records_put_u64(s, s->config.id);
	if (type & PERF_SAMPLE_STREAM_ID)
		snapshot_records_put_u64(s, s->config.id);
	if (type & PERF_SAMPLE_CPU)
		snapshot_records_put_u64(s, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		snapshot_records_put_u64(s, s->config.id);
	if (s->record.failed)
		return -ENOMEM;

	memcpy(&header, s->record.data, sizeof(header));
	header.size = (uint16_t)s->record.len;
	memcpy(s->record.data, &header, sizeof(header));
	return s->config.sink(s->config.ctx, s->record.data, s->record.len);
}

/* Sets FORK_EXEC, so that readers do not copy the parent's mappings: the mappings of this process
 * follow. */
int snapshot_put_fork(struct snapshot *s, pid_t pid, pid_t ppid)
{
	begin_record(s, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC);
	snapshot_records_put_u32(s, (uint32_t)pid);
	snapshot_records_put_u32(s, (uint32_t)ppid);
	snapshot_records_put_u32(s, (uint32_t)pid);
	snapshot_records_put_u32(s, (uint32_t)ppid);
	snapshot_records_put_u64(s, s->time_ns);
	return end_record(s, pid, pid);
}

int snapshot_put_comm(struct snapshot *s, pid_t pid, pid_t tid, const char *comm)
{
	begin_record(s, PERF_RECORD_COMM, 0);
	snapshot_records_put_u32(s, (uint32_t)pid);
	snapshot_records_put_u32(s, (uint32_t)tid);
	snapshot_records_put_text(s, comm, strlen(comm));
	return end_record(s, pid, tid);
}

/* Appends a mapping's path. For anonymous memory, it is the name that the kernel's records use. */
static void snapshot_records_put_path(struct snapshot *s, const struct proc_map *map)
{
	if (map->path_len)
		snapshot_records_put_text(s, map->path, map->path_len);
	else
		snapshot_records_put_text(s, "//anon", strlen("//anon"));
}

int snapshot_put_mmap2(struct snapshot *s, pid_t pid, const struct proc_map *map)
{
	begin_record(s, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	snapshot_records_put_u32(s, (uint32_t)pid);
	snapshot_records_put_u32(s, (uint32_t)pid);
	snapshot_records_put_u64(s, map->start);
	snapshot_records_put_u64(s, map->end - map->start);
	snapshot_records_put_u64(s, map->pgoff);
	snapshot_records_put_u32(s, map->maj);
	snapshot_records_put_u32(s, map->min);
	snapshot_records_put_u64(s, map->ino);
	snapshot_records_put_u64(s, 0); /* generation: not in /proc */
	snapshot_records_put_u32(s, map->prot);
	snapshot_records_put_u32(s, map->shared ? MAP_SHARED : MAP_PRIVATE);
	snapshot_records_put_path(s, map);
	return end_record(s, pid, pid);
}

int snapshot_put_cgroup(struct snapshot *s, uint64_t id, const char *path)
{
	begin_record(s, PERF_RECORD_CGROUP, 0);
	snapshot_records_put_u64(s, id);
	snapshot_records_put_text(s, path, strlen(path));
	return end_record(s, -1, 0);
}

int snapshot_put_kernel_mmap(struct snapshot *s, uint64_t start, uint64_t len,
			     uint64_t pgoff, const char *name)
{
	begin_record(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	snapshot_records_put_u32(s, (uint32_t)-1);
	snapshot_records_put_u32(s, 0);
	snapshot_records_put_u64(s, start);
	snapshot_records_put_u64(s, len);
	snapshot_records_put_u64(s, pgoff);
	snapshot_records_put_text(s, name, strlen(name));
	return end_record(s, -1, 0);
}

int snapshot_put_ksymbol(struct snapshot *s, uint64_t address, uint32_t bytes,
			 const char *name)
{
	const uint16_t type_and_flags[2] = { PERF_RECORD_KSYMBOL_TYPE_BPF };

	begin_record(s, PERF_RECORD_KSYMBOL, 0);
	snapshot_records_put_u64(s, address);
	snapshot_records_put_u32(s, bytes);
	buf_put(&s->record, type_and_flags, sizeof(type_and_flags));
	snapshot_records_put_text(s, name, strlen(name));
	return end_record(s, -1, 0);
}
