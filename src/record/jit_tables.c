/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/jit_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/async_call.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/process_facts.h"
#include "format/session/dict.h"
#include "record/keep/jit_store.h"
#include "resolve/jit/dump.h"
#include "resolve/jit/times.h"
#include "resolve/unwind/jit.h"
#include "resolve/unwind/table.h"

enum {
	/* After reading a dump, wait this many times as long as that took before reading it again,
	 * so that reading uses at most 3 % of a CPU. */
	REST_FACTOR = 32
};

static const uint64_t dump_max = 128 << 20; /* larger dumps are not read */
static const uint64_t all_max = 256 << 20;
static const uint64_t jit_read_patience_ns = 500 * (uint64_t)NS_PER_MS;
static const uint64_t last_patience_ns = 5 * (uint64_t)NS_PER_S;

/* The content of a dump when it was last read. */
struct dump_content {
	struct jitdump codes;
	struct jit_times times;
	struct unwind_table *table; /* NULL: it has no unwind information */
	uint64_t newest_ns;         /* the time of its newest record */
};

struct live_dump {
	int32_t pid;
	dev_t dev;
	ino_t inode;
	struct dump_content content;
	uint64_t read_bytes; /* size of the file when it was last read */
	uint64_t round;      /* number of the round in which it was last found */
	uint64_t next_ns;    /* the earliest time to read it again */
	bool is_awaited;     /* samples wait for it */
	bool is_given_up; /* not read again: it is too large, or its file system hangs */
};

static void dump_content_done(struct dump_content *c)
{
	jitdump_done(&c->codes);
	jit_times_done(&c->times);
	unwind_table_free(c->table);
	*c = (struct dump_content){ 0 };
}

/* ---- reading ---- */

/* Reads a dump in a thread, because the dump can be on a server that does not answer. */
struct dump_read {
	struct async_call call; /* must be first */
	int fd;
	const struct unwind_arch *arch;
	int result;
	struct dump_content content;
};

static void jit_tables_drop_read(struct async_call *call)
{
	struct dump_read *r = (struct dump_read *)call;

	close(r->fd);
	dump_content_done(&r->content);
	free(r);
}

static void jit_tables_run_read(struct async_call *call)
{
	struct dump_read *r = (struct dump_read *)call;
	struct dump_content *c = &r->content;
	struct mapped bytes = { 0 };
	struct err err = { 0 };

	r->result = jit_dump_try(r->fd, &bytes, &c->codes, &err);
	if (r->result)
		return;
	r->result = jit_times_make(&c->times, &c->codes, 0);
	for (size_t i = 0; i < c->codes.events.nr; i++)
		if (c->codes.events.at[i].time_ns > c->newest_ns)
			c->newest_ns = c->codes.events.at[i].time_ns;
	if (unwind_jit_table(&c->codes, bytes.bytes, bytes.len, r->arch, &c->table))
		c->table = NULL;
	mapped_release(&bytes);
}

/* Reads the dump. Returns 0, -ETIMEDOUT, or another negative errno. */
static int jit_tables_read_content(const struct jit_tables *t, int fd,
				   uint64_t patience_ns, const struct live_dump *d,
				   struct dump_content *ret_content)
{
	struct dump_read *r = calloc(1, sizeof(*r));
	int result;

	if (!r)
		return -ENOMEM;
	r->call = (struct async_call){ .kind = ASYNC_CALL_FILE,
				       .about = d->dev,
				       .user = process_async_user(d->pid),
				       .run = jit_tables_run_read,
				       .drop = jit_tables_drop_read };
	r->arch = t->arch;
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0) {
		free(r);
		return -EMFILE;
	}
	result = async_call_run(&r->call, patience_ns);
	if (result == -ETIMEDOUT)
		return result;
	if (!result)
		result = r->result;
	if (!result) {
		*ret_content = r->content;
		r->content = (struct dump_content){ 0 };
	}
	jit_tables_drop_read(&r->call);
	return result;
}

/* Reads a dump if its size has changed, unless it was given up, or was read too recently
 * (REST_FACTOR). `is_last`: ignores how recently it was read, and waits longer. */
static void live_dump_update(struct jit_tables *t, struct live_dump *d, int fd,
			     bool is_last)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	struct dump_content content = { 0 };
	struct stat st;
	int result;

	if (d->is_given_up || fstat(fd, &st) || (uint64_t)st.st_size == d->read_bytes ||
	    (now < d->next_ns && !is_last))
		return;
	if ((uint64_t)st.st_size > dump_max ||
	    t->bytes - d->read_bytes + (uint64_t)st.st_size > all_max) {
		d->is_given_up = true;
		return;
	}
	result = jit_tables_read_content(
		t, fd, is_last ? last_patience_ns : jit_read_patience_ns, d, &content);
	d->is_given_up = result == -ETIMEDOUT;
	d->next_ns = now + REST_FACTOR * (clock_now_ns(CLOCK_MONOTONIC) - now);
	if (result)
		return;
	dump_content_done(&d->content);
	d->content = content;
	t->bytes += (uint64_t)st.st_size - d->read_bytes;
	d->read_bytes = (uint64_t)st.st_size;
	d->is_awaited = false;
	t->any_read = true;
}

/* ---- the dumps of a process ---- */

static void live_dump_drop(struct jit_tables *t, size_t at)
{
	struct live_dump *d = t->dumps.at[at];

	t->bytes -= d->read_bytes;
	dump_content_done(&d->content);
	free(d);
	t->dumps.at[at] = t->dumps.at[--t->dumps.nr];
}

static struct live_dump *live_dump_of(struct jit_tables *t, int32_t pid,
				      const struct stat *st)
{
	struct live_dump *d;

	for (size_t i = 0; i < t->dumps.nr; i++) {
		d = t->dumps.at[i];
		if (d->pid == pid && d->dev == st->st_dev && d->inode == st->st_ino)
			return d;
	}
	d = vec_grow(&t->dumps) ? calloc(1, sizeof(*d)) : NULL;
	if (!d)
		return NULL;
	d->pid = pid;
	d->dev = st->st_dev;
	d->inode = st->st_ino;
	t->dumps.at[t->dumps.nr++] = d;
	return d;
}

/* Returns the dump that the process has open at `fd`, or NULL. Reads it if it has grown, at most
 * once per round. */
static struct live_dump *live_dump_look(struct jit_tables *t, int32_t pid, int fd)
{
	struct live_dump *d = NULL;
	struct stat st;

	/* If the dump of this process was already found in this round, no system call is needed. */
	for (size_t i = 0; i < t->dumps.nr && !d; i++)
		if (t->dumps.at[i]->pid == pid && t->dumps.at[i]->round == t->round)
			d = t->dumps.at[i];
	if (d || fstat(fd, &st))
		return d;
	d = live_dump_of(t, pid, &st);
	if (!d)
		return NULL;
	d->round = t->round;
	live_dump_update(t, d, fd, false);
	return d;
}

enum jit_table_state jit_tables_find(struct jit_tables *t, const struct image *image,
				     uint64_t *offset, uint64_t time_ns,
				     const struct unwind_table **ret_table)
{
	uint64_t address = image->start + *offset - image->ref_address;
	struct live_dump *d;
	struct jit_found found;
	bool is_timeless;
	int fd;

	*ret_table = NULL;
	fd = t->store ? jit_store_dump_of(t->store, image->pid) : -1;
	d = fd < 0 ? NULL : live_dump_look(t, image->pid, fd);
	if (!d)
		return JIT_TABLE_KNOWN;
	is_timeless = d->content.codes.arch_clock;
	found = jit_times_find(&d->content.times, address,
			       is_timeless ? UINT64_MAX : time_ns);
	if (found.code != JITDUMP_NO_CODE) {
		*offset = d->content.codes.codes.at[found.code].offset + found.offset;
		*ret_table = d->content.table;
		return JIT_TABLE_KNOWN;
	}
	if (d->is_given_up || is_timeless || d->content.codes.closed ||
	    d->content.newest_ns > time_ns)
		return JIT_TABLE_KNOWN;
	d->is_awaited = true;
	return JIT_TABLE_UNKNOWN;
}

bool jit_tables_read(struct jit_tables *t, bool all)
{
	bool any;

	t->round++;
	for (size_t i = t->dumps.nr; i-- > 0;) {
		struct live_dump *d = t->dumps.at[i];
		int fd = jit_store_dump_of(t->store, d->pid);
		struct stat st;

		/* If the process has mapped another dump since, drop this one: some compilers
		 * create several. */
		if (fd < 0 || fstat(fd, &st) || st.st_dev != d->dev ||
		    st.st_ino != d->inode) {
			live_dump_drop(t, i);
			continue;
		}
		if (!d->is_awaited)
			continue;
		d->round = t->round;
		live_dump_update(t, d, fd, all);
	}
	any = t->any_read;
	t->any_read = false;
	return any;
}

void jit_tables_done(struct jit_tables *t)
{
	while (t->dumps.nr)
		live_dump_drop(t, t->dumps.nr - 1);
	vec_done(&t->dumps);
}
