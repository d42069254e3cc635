#include "decode/record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cursor.h"
#include "base/err.h"

enum {
	BUILD_ID_FIELD = 20, /* bytes of build-id in MMAP2's union */
	HEADER_BYTES = sizeof(struct perf_event_header)
};

/* Finds the attr that a record belongs to.  With IDENTIFIER its place is fixed: the first
 * word of a sample, the last of everything else (perf_event_open(2)). */
static uint32_t attr_of(const struct decoder *d, uint64_t id)
{
	uint32_t index;

	if (d->attrs.nr < 2)
		return 0;
	if (id - d->first_id < d->by_near_id.nr)
		index = d->by_near_id.at[id - d->first_id];
	else
		index = map_get(&d->by_id, id, 0);
	return index == MAP_NONE ? 0 : index;
}

static uint32_t find_attr(const struct decoder *d, uint32_t type,
			  const struct cursor *in)
{
	struct cursor at = *in;
	size_t left = cursor_left(in);

	if (d->attrs.nr < 2 || left < sizeof(uint64_t) ||
	    !(d->attrs.at[0].sample_type & PERF_SAMPLE_IDENTIFIER))
		return 0;
	if (type != PERF_RECORD_SAMPLE)
		at.pos = at.len - sizeof(uint64_t);
	return attr_of(d, cursor_u64(&at));
}

static void skip(struct cursor *in, uint64_t bytes)
{
	if (bytes > cursor_left(in))
		in->failed = true;
	else
		in->pos += bytes;
}

/* PERF_FORMAT_*: one value, or a group of them. */
static void skip_read_values(struct cursor *in, uint64_t format)
{
	uint64_t nr = 1, words;

	if (format & PERF_FORMAT_GROUP)
		nr = cursor_u64(in);
	words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	if (nr > cursor_left(in) / (words * sizeof(uint64_t))) {
		in->failed = true;
		return;
	}
	skip(in, (nr * words + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		  !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING)) *
			 sizeof(uint64_t));
}

static void decode_chain(struct cursor *in, struct record_sample *s)
{
	uint64_t nr = cursor_u64(in);

	if (in->failed || nr > cursor_left(in) / sizeof(uint64_t)) {
		in->failed = true;
		return;
	}
	s->chain = cursor_take(in, nr * sizeof(uint64_t));
	s->nr_chain = nr;
}

static void skip_branch_stack(struct cursor *in, uint64_t branch_type)
{
	uint64_t nr = cursor_u64(in);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		cursor_u64(in);
	if (nr > cursor_left(in) / sizeof(struct perf_branch_entry))
		in->failed = true;
	else
		skip(in, nr * sizeof(struct perf_branch_entry));
}

static void skip_regs(struct cursor *in, uint64_t mask)
{
	if (cursor_u64(in) != PERF_SAMPLE_REGS_ABI_NONE)
		skip(in, (uint64_t)__builtin_popcountll(mask) * sizeof(uint64_t));
}

static void skip_user_stack(struct cursor *in)
{
	uint64_t bytes = cursor_u64(in);

	skip(in, bytes);
	if (bytes)
		cursor_u64(in); /* dyn_size */
}

/* The parts behind the call chain, of which only the cgroup is kept so far. */
static void decode_sample_rest(const struct perf_event_attr *a, struct cursor *in,
			       struct record_sample *s)
{
	uint64_t t = a->sample_type;

	if (t & PERF_SAMPLE_RAW)
		skip(in, cursor_u32(in));
	if (t & PERF_SAMPLE_BRANCH_STACK)
		skip_branch_stack(in, a->branch_sample_type);
	if (t & PERF_SAMPLE_REGS_USER)
		skip_regs(in, a->sample_regs_user);
	if (t & PERF_SAMPLE_STACK_USER)
		skip_user_stack(in);
	if (t & PERF_SAMPLE_WEIGHT_TYPE)
		cursor_u64(in);
	if (t & PERF_SAMPLE_DATA_SRC)
		cursor_u64(in);
	if (t & PERF_SAMPLE_TRANSACTION)
		cursor_u64(in);
	if (t & PERF_SAMPLE_REGS_INTR)
		skip_regs(in, a->sample_regs_intr);
	if (t & PERF_SAMPLE_PHYS_ADDR)
		cursor_u64(in);
	if (t & PERF_SAMPLE_CGROUP)
		s->cgroup = cursor_u64(in);
}

static uint64_t load_u64(const uint8_t *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static uint32_t load_u32(const uint8_t *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

/* The fields of fixed size, by their offsets: one look at the length for all of them.  This
 * is the path that every sample takes. */
static void decode_fixed(const struct sample_layout *l, const struct perf_event_attr *a,
			 const struct cursor *in, struct record *rec)
{
	const uint8_t *at = in->data;
	bool swap = in->swap;

	rec->sample =
		(struct record_sample){ .period = a->freq ? 1 : a->sample_period };
	if (l->id)
		rec->id.id = load_u64(at + l->id, swap);
	if (l->ip)
		rec->sample.ip.v = load_u64(at + l->ip, swap);
	if (l->tid) {
		rec->id.pid = (int32_t)load_u32(at + l->tid, swap);
		rec->id.tid = (int32_t)load_u32(at + l->tid + 4, swap);
	}
	if (l->time)
		rec->id.time_ns = load_u64(at + l->time, swap);
	if (l->addr)
		rec->sample.addr = load_u64(at + l->addr, swap);
	if (l->cpu)
		rec->id.cpu = load_u32(at + l->cpu, swap);
	if (l->period)
		rec->sample.period = load_u64(at + l->period, swap);
}

static void decode_sample(const struct sample_layout *l,
			  const struct perf_event_attr *a, struct cursor *in,
			  struct record *rec)
{
	uint64_t t = a->sample_type;

	if (l->bytes > in->len) {
		in->failed = true;
		return;
	}
	decode_fixed(l, a, in, rec);
	if (!l->more)
		return;
	in->pos = l->bytes;
	if (t & PERF_SAMPLE_READ)
		skip_read_values(in, a->read_format);
	if (t & PERF_SAMPLE_CALLCHAIN)
		decode_chain(in, &rec->sample);
	if (t >= PERF_SAMPLE_RAW)
		decode_sample_rest(a, in, &rec->sample);
}

/* sample_id_all: the same fields at the end of every other record. */
static void decode_trailer(const struct perf_event_attr *a, struct cursor *in,
			   struct record_id *id)
{
	static const uint64_t words = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				      PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint64_t t = a->sample_type;
	size_t bytes = (size_t)__builtin_popcountll(t & words) * sizeof(uint64_t);

	if (!a->sample_id_all || bytes > cursor_left(in))
		return;
	in->pos = in->len - bytes;
	if (t & PERF_SAMPLE_TID) {
		id->pid = (int32_t)cursor_u32(in);
		id->tid = (int32_t)cursor_u32(in);
	}
	if (t & PERF_SAMPLE_TIME) {
		id->time_ns = cursor_u64(in);
		id->has_time = true;
	}
	if (t & PERF_SAMPLE_ID)
		id->id = cursor_u64(in);
	if (t & PERF_SAMPLE_STREAM_ID)
		cursor_u64(in);
	if (t & PERF_SAMPLE_CPU) {
		id->cpu = cursor_u32(in);
		cursor_u32(in);
	}
	if (t & PERF_SAMPLE_IDENTIFIER)
		id->id = cursor_u64(in);
}

/* A string that ends inside the record; what lies behind it is padding and trailer. */
static const char *take_str(struct cursor *in)
{
	const char *s = (const char *)in->data + in->pos;
	size_t left = cursor_left(in);
	size_t len = strnlen(s, left);

	if (in->failed || len == left) {
		in->failed = true;
		return "";
	}
	in->pos += len + 1;
	return s;
}

static void decode_mmap2_identity(struct cursor *in, uint16_t misc,
				  struct record_mmap *m)
{
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		const void *bytes;

		m->build_id_len = cursor_u8(in);
		cursor_u8(in);
		cursor_u16(in);
		bytes = cursor_take(in, BUILD_ID_FIELD);
		if (bytes)
			memcpy(m->build_id, bytes, BUILD_ID_FIELD);
		if (m->build_id_len > BUILD_ID_FIELD)
			in->failed = true;
		return;
	}
	m->maj = cursor_u32(in);
	m->min = cursor_u32(in);
	m->ino = cursor_u64(in);
	m->ino_gen = cursor_u64(in);
}

static void decode_mmap(struct cursor *in, struct record *rec)
{
	struct record_mmap *m = &rec->mmap;

	*m = (struct record_mmap){ 0 };
	m->pid = (int32_t)cursor_u32(in);
	m->tid = (int32_t)cursor_u32(in);
	m->start = cursor_u64(in);
	m->len = cursor_u64(in);
	m->pgoff = cursor_u64(in);
	m->prot = rec->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
	if (rec->type == PERF_RECORD_MMAP2) {
		decode_mmap2_identity(in, rec->misc, m);
		m->prot = cursor_u32(in);
		cursor_u32(in); /* flags */
	}
	m->path = take_str(in);
}

static void decode_comm(struct cursor *in, struct record *rec)
{
	struct record_comm *c = &rec->comm;

	c->pid = (int32_t)cursor_u32(in);
	c->tid = (int32_t)cursor_u32(in);
	c->exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	c->comm = take_str(in);
}

static void decode_task(struct cursor *in, struct record *rec)
{
	struct record_task *t = &rec->task;

	t->pid = (int32_t)cursor_u32(in);
	t->ppid = (int32_t)cursor_u32(in);
	t->tid = (int32_t)cursor_u32(in);
	t->ptid = (int32_t)cursor_u32(in);
	t->time_ns = cursor_u64(in);
}

static void decode_lost(struct cursor *in, struct record *rec)
{
	if (rec->type == PERF_RECORD_LOST)
		cursor_u64(in); /* id */
	rec->lost.lost = cursor_u64(in);
}

static void decode_ksymbol(struct cursor *in, struct record *rec)
{
	struct record_ksymbol *k = &rec->ksymbol;

	k->addr = cursor_u64(in);
	k->len = cursor_u32(in);
	k->ksym_type = cursor_u16(in);
	k->unregister = cursor_u16(in) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	k->name = take_str(in);
}

static void decode_cgroup(struct cursor *in, struct record *rec)
{
	rec->cgroup.id = cursor_u64(in);
	rec->cgroup.path = take_str(in);
}

static void decode_namespaces(struct cursor *in, struct record *rec)
{
	struct record_namespaces *n = &rec->namespaces;

	n->pid = (int32_t)cursor_u32(in);
	n->tid = (int32_t)cursor_u32(in);
	n->nr = cursor_u64(in);
	if (n->nr > cursor_left(in) / 16) {
		in->failed = true;
		return;
	}
	n->links = cursor_take(in, n->nr * 16);
}

typedef void (*decode_fn)(struct cursor *in, struct record *rec);

/* Kinds with a body of their own; docs/howto/add-record-kind.md. */
static const decode_fn kinds[] = {
	[PERF_RECORD_MMAP] = decode_mmap,
	[PERF_RECORD_LOST] = decode_lost,
	[PERF_RECORD_COMM] = decode_comm,
	[PERF_RECORD_EXIT] = decode_task,
	[PERF_RECORD_FORK] = decode_task,
	[PERF_RECORD_MMAP2] = decode_mmap,
	[PERF_RECORD_LOST_SAMPLES] = decode_lost,
	[PERF_RECORD_NAMESPACES] = decode_namespaces,
	[PERF_RECORD_KSYMBOL] = decode_ksymbol,
	[PERF_RECORD_CGROUP] = decode_cgroup,
};

int decoder_record(const struct decoder *d, const void *bytes, size_t len,
		   struct record *ret_record, struct err *err)
{
	struct cursor in = { .data = bytes, .len = len, .swap = d->swap };
	const struct perf_event_attr *attr;
	struct record *rec = ret_record;
	uint16_t size;

	rec->type = cursor_u32(&in);
	rec->misc = cursor_u16(&in);
	size = cursor_u16(&in);
	if (in.failed || size < HEADER_BYTES || size > len)
		return err_set(err, -EBADMSG, "record of %u bytes where %zu are left",
			       in.failed ? 0U : size, len);
	in.len = size;
	rec->id = (struct record_id){ .pid = -1, .tid = -1 };
	rec->id.event = find_attr(d, rec->type, &in);
	if (rec->id.event >= d->attrs.nr)
		return err_set(err, -EBADMSG, "record without an event");
	attr = &d->attrs.at[rec->id.event];
	if (rec->type == PERF_RECORD_SAMPLE) {
		decode_sample(&d->layouts.at[rec->id.event], attr, &in, rec);
		rec->id.has_time = attr->sample_type & PERF_SAMPLE_TIME;
	} else {
		if (rec->type < sizeof(kinds) / sizeof(*kinds) && kinds[rec->type])
			kinds[rec->type](&in, rec);
		if (!in.failed)
			decode_trailer(attr, &in, &rec->id);
	}
	if (in.failed)
		return err_set(err, -EBADMSG, "record of type %u is cut short",
			       rec->type);
	return 0;
}

uint64_t decoder_chain_at(const struct decoder *d, const struct record_sample *s,
			  uint64_t i)
{
	uint64_t v;

	memcpy(&v, s->chain + i * sizeof(v), sizeof(v));
	return d->swap ? __builtin_bswap64(v) : v;
}
