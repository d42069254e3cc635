/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/side.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/safe_text.h"

enum {
	LINE_MAX_BYTES = 8192, /* a path of 4096 bytes, and numbers */
	NAME_BYTES = 16,
	HEX_BYTES = 2 * sizeof(((struct record_mmap *)0)->build_id) + 1
};

void script_side_done(struct script_side *s)
{
	for (size_t i = 0; i < s->comms.nr; i++)
		free(s->comms.at[i]);
	vec_done(&s->comms);
	map_done(&s->comm_of);
}

/* Sets the name of a thread; NULL removes it. */
static int set_comm(struct script_side *s, int32_t tid, const char *comm)
{
	char *copy = comm ? strdup(comm) : NULL;

	if (copy)
		safe_text_mask(copy, strlen(copy), SCRIPT_MASK);
	if ((comm && !copy) || !vec_push(&s->comms, copy)) {
		free(copy);
		return -ENOMEM;
	}
	return map_set(&s->comm_of, (uint32_t)tid, 0, (uint32_t)s->comms.nr - 1);
}

/* Returns the recorded name of a thread, or NULL. */
static const char *reported_comm(const struct script_side *s, int32_t tid)
{
	uint32_t known = map_get(&s->comm_of, (uint32_t)tid, 0);

	if (known != MAP_NONE)
		return s->comms.at[known];
	return tid ? NULL : "swapper";
}

/* Returns the name of a thread; an unknown thread is ":TID", as in perf. */
static const char *comm_of(const struct script_side *s, int32_t tid,
			   char room[NAME_BYTES])
{
	const char *reported = reported_comm(s, tid);

	if (reported)
		return reported;
	snprintf(room, NAME_BYTES, ":%" PRId32, tid);
	return room;
}

/* Handles a fork: the child gets the recorded name of its parent, if there is one. The name of an
 * earlier thread with the same number is removed. */
static int fork_comm(struct script_side *s, int32_t tid, int32_t parent)
{
	const char *comm = reported_comm(s, parent);

	return comm || reported_comm(s, tid) ? set_comm(s, tid, comm) : 0;
}

/* Stores the thread names of a record. Call it before its line is printed, which already uses
 * them. */
static int script_side_learn(struct script_side *s, const struct record *rec)
{
	if (rec->type == PERF_RECORD_COMM)
		return set_comm(s, rec->comm.tid, rec->comm.comm);
	if (rec->type == PERF_RECORD_FORK)
		return fork_comm(s, rec->task.tid, rec->task.ptid);
	return 0;
}

static void print_build_id(const struct record_mmap *m, char hex[HEX_BYTES])
{
	for (size_t i = 0; i < m->build_id_len && i < sizeof(m->build_id); i++)
		snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
}

/* Prints a mapping in the format of perf_event__fprintf_mmap2() in tools/perf/util/event.c. */
static int print_mmap2(const struct record_mmap *m, char *line, size_t size)
{
	char hex[HEX_BYTES] = "";
	char what[3 * HEX_BYTES];

	if (m->build_id_len) {
		print_build_id(m, hex);
		snprintf(what, sizeof(what), "<%s>", hex);
	} else {
		snprintf(what, sizeof(what), "%02x:%02x %" PRIu64 " %" PRIu64, m->maj,
			 m->min, m->ino, m->ino_gen);
	}
	return snprintf(line, size,
			"PERF_RECORD_MMAP2 %" PRId32 "/%" PRId32 ": [%#" PRIx64
			"(%#" PRIx64 ") @ %#" PRIx64 " %s]: %c%c%c%c %s\n",
			m->pid, m->tid, m->start, m->len, m->pgoff, what,
			m->prot & PROT_READ ? 'r' : '-',
			m->prot & PROT_WRITE ? 'w' : '-',
			m->prot & PROT_EXEC ? 'x' : '-',
			m->flags & MAP_SHARED ? 's' : 'p', m->path);
}

static int print_mmap(const struct record *rec, char *line, size_t size)
{
	const struct record_mmap *m = &rec->mmap;

	return snprintf(line, size,
			"PERF_RECORD_MMAP %" PRId32 "/%" PRId32 ": [%#" PRIx64
			"(%#" PRIx64 ") @ %#" PRIx64 "]: %c %s\n",
			m->pid, m->tid, m->start, m->len, m->pgoff,
			rec->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x', m->path);
}

static int print_task(const struct record *rec, char *line, size_t size)
{
	const struct record_task *t = &rec->task;

	return snprintf(line, size,
			"PERF_RECORD_%s(%" PRId32 ":%" PRId32 "):(%" PRId32 ":%" PRId32
			")\n",
			rec->type == PERF_RECORD_FORK ? "FORK" : "EXIT", t->pid, t->tid,
			t->ppid, t->ptid);
}

/* Formats the line of a record and sets *ret_tid to its thread.  Returns its length; 0: not
 * printed. */
static int print(const struct script_side *s, const struct record *rec, char *line,
		 size_t size, int32_t *ret_tid)
{
	switch (rec->type) {
	case PERF_RECORD_MMAP:
		*ret_tid = rec->mmap.tid;
		return s->mmaps ? print_mmap(rec, line, size) : 0;
	case PERF_RECORD_MMAP2:
		*ret_tid = rec->mmap.tid;
		return s->mmaps ? print_mmap2(&rec->mmap, line, size) : 0;
	case PERF_RECORD_COMM:
		*ret_tid = rec->comm.tid;
		return !s->tasks
			       ? 0
			       : snprintf(line, size,
					  "PERF_RECORD_COMM%s: %s:%" PRId32 "/%" PRId32
					  "\n",
					  rec->comm.exec ? " exec" : "", rec->comm.comm,
					  rec->comm.pid, rec->comm.tid);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		*ret_tid = rec->task.tid;
		return s->tasks ? print_task(rec, line, size) : 0;
	default:
		return 0;
	}
}

int script_side_write(struct script_side *s, const struct script_writer *w,
		      const struct record *rec, struct buf *out)
{
	char line[LINE_MAX_BYTES];
	char room[NAME_BYTES];
	struct script_sample start = { .event = rec->id.event,
				       .misc = rec->misc,
				       .pid = rec->id.pid,
				       .tid = rec->id.tid,
				       .cpu = rec->id.cpu,
				       .time_ns = rec->id.time_ns };
	int32_t tid = 0;
	int len;

	if (script_side_learn(s, rec))
		return -ENOMEM;
	len = print(s, rec, line, sizeof(line), &tid);
	if (len <= 0 || start.event >= w->nr_events)
		return 0;
	start.comm.at = comm_of(s, tid, room);
	start.comm.len = strlen(start.comm.at);
	script_write_start(w, &start, out);
	if ((size_t)len >= sizeof(line))
		len = sizeof(line) - 1;
	safe_text_mask(line, (size_t)len - 1, SCRIPT_MASK); /* except for its end */
	buf_put(out, line, (size_t)len);
	return out->failed ? -ENOMEM : 0;
}
