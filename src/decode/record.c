/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decode/record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/err.h"
#include "decode/record_priv.h"

enum {
	BUILD_ID_FIELD = 20,   /* bytes of build-id in MMAP2's union */
	MMAP2_IDENTITY_AT = 32 /* offset of that union after the header */
};

/* Decodes the fields that sample_id_all adds to the end of every other record. */
static void decode_trailer(const struct perf_event_attr *a, struct cursor *in,
			   struct record_id *id)
{
	uint64_t t = a->sample_type;
	size_t bytes = record_trailer_bytes(a);

	if (!bytes || bytes > cursor_left(in))
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
		id->stream_id = cursor_u64(in);
	if (t & PERF_SAMPLE_CPU) {
		id->cpu = cursor_u32(in);
		cursor_u32(in);
	}
	if (t & PERF_SAMPLE_IDENTIFIER)
		id->id = cursor_u64(in);
}

const char *record_take_str(struct cursor *in)
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

/* Decodes protection and flags of an MMAP2. Kernels 3.10 to 3.15 do not write them: the path
 * follows, and its first bytes make a larger number than protection bits do. */
static void decode_mmap2_flags(struct cursor *in, struct record_mmap *m)
{
	const size_t pos = in->pos;
	uint32_t prot = cursor_u32(in);

	if (prot & ~(uint32_t)(PROT_READ | PROT_WRITE | PROT_EXEC)) {
		in->pos = pos;
		return;
	}
	m->prot = prot;
	m->flags = cursor_u32(in);
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
		decode_mmap2_flags(in, m);
	}
	m->path = record_take_str(in);
}

static void decode_comm(struct cursor *in, struct record *rec)
{
	struct record_comm *c = &rec->comm;

	c->pid = (int32_t)cursor_u32(in);
	c->tid = (int32_t)cursor_u32(in);
	c->exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	c->comm = record_take_str(in);
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
	rec->lost.id = rec->type == PERF_RECORD_LOST ? cursor_u64(in) : 0;
	rec->lost.lost = cursor_u64(in);
}

static void decode_throttle(struct cursor *in, struct record *rec)
{
	rec->throttle.time_ns = cursor_u64(in);
	rec->throttle.id = cursor_u64(in);
	rec->throttle.stream_id = cursor_u64(in);
}

static void decode_aux(struct cursor *in, struct record *rec)
{
	rec->aux.offset = cursor_u64(in);
	rec->aux.size = cursor_u64(in);
	rec->aux.flags = cursor_u64(in);
}

static void decode_itrace_start(struct cursor *in, struct record *rec)
{
	rec->itrace_start.pid = (int32_t)cursor_u32(in);
	rec->itrace_start.tid = (int32_t)cursor_u32(in);
}

static void decode_switch(struct cursor *in, struct record *rec)
{
	struct record_switch *s = &rec->sched_switch;

	s->out = rec->misc & PERF_RECORD_MISC_SWITCH_OUT;
	s->preempted = s->out && rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	s->other_pid = s->other_tid = -1;
	if (rec->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return;
	s->other_pid = (int32_t)cursor_u32(in);
	s->other_tid = (int32_t)cursor_u32(in);
}

static void decode_ksymbol(struct cursor *in, struct record *rec)
{
	struct record_ksymbol *k = &rec->ksymbol;

	k->addr = cursor_u64(in);
	k->len = cursor_u32(in);
	k->ksym_type = cursor_u16(in);
	k->unregister = cursor_u16(in) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	k->name = record_take_str(in);
}

static void decode_cgroup(struct cursor *in, struct record *rec)
{
	rec->cgroup.id = cursor_u64(in);
	rec->cgroup.path = record_take_str(in);
}

static void decode_namespaces(struct cursor *in, struct record *rec)
{
	struct record_namespaces *n = &rec->namespaces;

	n->pid = (int32_t)cursor_u32(in);
	n->tid = (int32_t)cursor_u32(in);
	n->nr = cursor_u64(in);
	n->links = record_take_array(in, n->nr, 16);
}

static void decode_bpf_event(struct cursor *in, struct record *rec)
{
	struct record_bpf_event *b = &rec->bpf_event;
	const void *tag;

	b->kind = cursor_u16(in);
	b->flags = cursor_u16(in);
	b->prog_id = cursor_u32(in);
	tag = cursor_take(in, sizeof(b->tag));
	if (tag)
		memcpy(b->tag, tag, sizeof(b->tag));
}

static void decode_text_poke(struct cursor *in, struct record *rec)
{
	struct record_text_poke *t = &rec->text_poke;

	t->addr = cursor_u64(in);
	t->old_len = cursor_u16(in);
	t->new_len = cursor_u16(in);
	t->bytes = record_take_array(in, (uint64_t)t->old_len + t->new_len, 1);
}

static void decode_aux_output_hw_id(struct cursor *in, struct record *rec)
{
	rec->aux_output_hw_id.hw_id = cursor_u64(in);
}

static void decode_deferred(struct cursor *in, struct record *rec)
{
	struct record_callchain_deferred *c = &rec->deferred;

	c->cookie = cursor_u64(in);
	c->nr = cursor_u64(in);
	c->chain = record_take_array(in, c->nr, sizeof(uint64_t));
}

/* Record types with a body; docs/howto/add-record-kind.md. READ also needs its attr. */
static const record_decode_fn kinds[] = {
	[PERF_RECORD_MMAP] = decode_mmap,
	[PERF_RECORD_LOST] = decode_lost,
	[PERF_RECORD_COMM] = decode_comm,
	[PERF_RECORD_EXIT] = decode_task,
	[PERF_RECORD_THROTTLE] = decode_throttle,
	[PERF_RECORD_UNTHROTTLE] = decode_throttle,
	[PERF_RECORD_FORK] = decode_task,
	[PERF_RECORD_MMAP2] = decode_mmap,
	[PERF_RECORD_AUX] = decode_aux,
	[PERF_RECORD_ITRACE_START] = decode_itrace_start,
	[PERF_RECORD_LOST_SAMPLES] = decode_lost,
	[PERF_RECORD_SWITCH] = decode_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = decode_switch,
	[PERF_RECORD_NAMESPACES] = decode_namespaces,
	[PERF_RECORD_KSYMBOL] = decode_ksymbol,
	[PERF_RECORD_BPF_EVENT] = decode_bpf_event,
	[PERF_RECORD_CGROUP] = decode_cgroup,
	[PERF_RECORD_TEXT_POKE] = decode_text_poke,
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = decode_aux_output_hw_id,
	[RECORD_CALLCHAIN_DEFERRED] = decode_deferred,
};

static void decode_read(const struct perf_event_attr *a, struct cursor *in,
			struct record *rec)
{
	rec->read.pid = (int32_t)cursor_u32(in);
	rec->read.tid = (int32_t)cursor_u32(in);
	record_take_read(in, a->read_format, &rec->read.values);
}

/* Returns true if the build-id bit is wrong. The kernel (6.18: perf_event_mmap_output()) sets
 * it for one recording that requested build-ids and leaves it set for the next one, which gets
 * device and inode as requested. Tools that add build-ids to a file later (perf inject) do not
 * change its attrs, but their build-ids have a length that linkers use, followed by zeros. */
static bool is_left_over_bit(const struct decoder *d, const struct cursor *in,
			     const struct record *rec)
{
	const uint8_t *at = in->data + in->pos + MMAP2_IDENTITY_AT;

	if (d->build_ids || rec->type != PERF_RECORD_MMAP2 ||
	    !(rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) ||
	    cursor_left(in) < MMAP2_IDENTITY_AT + 4)
		return false;
	return (at[0] != 16 && at[0] != BUILD_ID_FIELD) || at[1] || at[2] || at[3];
}

/* Decodes the records that the kernel writes in addition to samples. */
static void decode_side_band(const struct decoder *d, struct cursor *in,
			     struct record *rec)
{
	const struct perf_event_attr *a = &d->attrs.at[rec->id.event];

	if (is_left_over_bit(d, in, rec))
		rec->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (rec->type == PERF_RECORD_READ)
		decode_read(a, in, rec);
	else if (rec->type < COUNT_OF(kinds) && kinds[rec->type])
		kinds[rec->type](in, rec);
	if (!in->failed)
		decode_trailer(a, in, &rec->id);
}

static void decode_perf_made(struct cursor *in, struct record *rec)
{
	uint32_t i = rec->type - RECORD_PERF_MADE_FIRST;

	if (i < RECORD_PERF_MADE_COUNT && record_perf_made[i])
		record_perf_made[i](in, rec);
}

int record_malformed(size_t left, struct err *err)
{
	return err_set(err, -EBADMSG,
		       "record with an impossible size (%zu bytes are left)", left);
}

int record_cut_short(const struct record *rec, struct err *err)
{
	return err_set(err, -EBADMSG, "record of type %u is truncated", rec->type);
}

/* Offsets: the name of a KSYMBOL, after its address, length, type and flags; the end of a
 * BPF_EVENT; and in a TEXT_POKE the two lengths after its address, and the bytes after these. */
enum {
	KSYMBOL_NAME_AT = RECORD_HEADER_BYTES + 16,
	BPF_EVENT_BYTES = RECORD_HEADER_BYTES + 16,
	TEXT_POKE_OLD_AT = RECORD_HEADER_BYTES + 8,
	TEXT_POKE_BYTES_AT = RECORD_HEADER_BYTES + 12
};

/* Returns the offset of a record's last fields if the kernel can report a wrong size for this
 * type, else 0. */
static size_t body_bytes(const struct decoder *d, const uint8_t *bytes, size_t size,
			 uint32_t type)
{
	size_t end = 0;

	if (type == PERF_RECORD_KSYMBOL && size > KSYMBOL_NAME_AT)
		end = KSYMBOL_NAME_AT + 1 +
		      strnlen((const char *)bytes + KSYMBOL_NAME_AT,
			      size - KSYMBOL_NAME_AT);
	else if (type == PERF_RECORD_BPF_EVENT)
		end = BPF_EVENT_BYTES;
	else if (type == PERF_RECORD_TEXT_POKE && size >= TEXT_POKE_BYTES_AT)
		end = (size_t)TEXT_POKE_BYTES_AT +
		      record_u16(bytes + TEXT_POKE_OLD_AT, d->swap) +
		      record_u16(bytes + TEXT_POKE_OLD_AT + 2, d->swap);
	return (end + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

/* Returns the real size of a record. The kernel (6.18: perf_event_ksymbol_output(),
 * perf_event_bpf_output() and perf_event_text_poke_output()) adds the size of the last fields
 * to the same variable for each recording that receives the record. The second recording finds
 * these fields at the correct offset, followed by old contents of the ring. */
static size_t record_own_bytes(const struct decoder *d, const uint8_t *bytes,
			       size_t size, uint32_t type)
{
	size_t body = body_bytes(d, bytes, size, type);
	size_t own = body + d->trailer_bytes;

	return body && d->trailer_bytes && own < size ? own : size;
}

size_t decoder_own_bytes(const struct decoder *d, const void *bytes, size_t len)
{
	struct record rec = { .type = 0 };
	size_t size = record_open(d, bytes, len, &rec);

	return record_own_bytes(d, bytes, size, rec.type);
}

static int decode_other(const struct decoder *d, const uint8_t *bytes, size_t size,
			struct record *rec, struct err *err)
{
	struct cursor in = cursor_of(bytes, size, d->swap);
	size_t id_at = d->id_from_end < size ? size - d->id_from_end : 0;

	in.pos = RECORD_HEADER_BYTES;
	rec->id = (struct record_id){ .pid = -1, .tid = -1 };
	if (rec->type >= RECORD_PERF_MADE_FIRST) {
		decode_perf_made(&in, rec);
		return in.failed ? record_cut_short(rec, err) : 0;
	}
	rec->id.event = record_attr(d, bytes, size, id_at, &rec->id.stray);
	if (rec->id.event >= d->attrs.nr)
		return err_set(err, -EBADMSG, "record does not belong to an event");
	decode_side_band(d, &in, rec);
	return in.failed ? record_cut_short(rec, err) : 0;
}

int decoder_record(const struct decoder *d, const void *bytes, size_t len,
		   struct record *ret_record, struct err *err)
{
	size_t size = record_open(d, bytes, len, ret_record);

	if (!size)
		return record_malformed(len, err);
	if (ret_record->type == PERF_RECORD_SAMPLE)
		return decoder_sample(d, bytes, size, ret_record, err);
	size = record_own_bytes(d, bytes, size, ret_record->type);
	return decode_other(d, bytes, size, ret_record, err);
}
