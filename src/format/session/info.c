/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"

/* The strings of the metadata, in the order of the file. */
static const size_t info_strings[] = {
	offsetof(struct session_info, tool_version),
	offsetof(struct session_info, hostname),
	offsetof(struct session_info, os_release),
	offsetof(struct session_info, machine),
	offsetof(struct session_info, cpu_desc),
	offsetof(struct session_info, boot_id),
	offsetof(struct session_info, command),
	offsetof(struct session_info, vmlinux),
};

enum {
	NR_INFO_STRINGS = COUNT_OF(info_strings),
	INFO_STRING_MAX = 2 << 20, /* the kernel's limit for a command line */
	KHZ_PER_MHZ = 1000
};

static const char **session_info_string_of(struct session_info *info, size_t i)
{
	return (const char **)(void *)((char *)info + info_strings[i]);
}

void session_info_put(const struct session_info *info, struct buf *out)
{
	/* a copy, because session_info_string_of() needs a non-const pointer */
	struct session_info copy = *info;

	buf_put_u64(out, info->start_ns);
	buf_put_u64(out, info->start_wall_ns);
	buf_put_u64(out, (uint64_t)(info->cpu_mhz * KHZ_PER_MHZ + 0.5));
	buf_put_u32(out, info->nr_cpus_online);
	buf_put_u32(out, info->flags);
	buf_put_u32(out, (uint32_t)info->clock_id);
	buf_put_u8(out, info->kernel_build_id.len);
	buf_put(out, info->kernel_build_id.bytes, BUILD_ID_MAX);
	for (size_t i = 0; i < NR_INFO_STRINGS; i++) {
		const char *string = *session_info_string_of(&copy, i);
		size_t len = strnlen(string, INFO_STRING_MAX);

		buf_put_varint(out, len);
		buf_put(out, string, len);
	}
}

static int session_info_take_string(struct cursor *in, const char **ret_string)
{
	uint64_t len = cursor_varint(in);
	const void *bytes = cursor_take(in, len);
	char *copy;

	if (!bytes)
		return -EBADMSG;
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	*ret_string = copy;
	return 0;
}

int session_info_get(struct cursor *in, struct session_info *ret_info)
{
	struct session_info info = { 0 };
	const void *id;
	int r = 0;

	info.start_ns = cursor_u64(in);
	info.start_wall_ns = cursor_u64(in);
	info.cpu_mhz = (double)cursor_u64(in) / KHZ_PER_MHZ;
	info.nr_cpus_online = cursor_u32(in);
	info.flags = cursor_u32(in);
	info.clock_id = (int32_t)cursor_u32(in);
	info.kernel_build_id.len = cursor_u8(in);
	id = cursor_take(in, BUILD_ID_MAX);
	if (!id || info.kernel_build_id.len > BUILD_ID_MAX)
		return -EBADMSG;
	memcpy(info.kernel_build_id.bytes, id, BUILD_ID_MAX);
	for (size_t i = 0; !r && i < NR_INFO_STRINGS; i++)
		r = session_info_take_string(in, session_info_string_of(&info, i));
	if (r) {
		session_info_done(&info);
		return r;
	}
	*ret_info = info;
	return 0;
}

void session_info_done(struct session_info *info)
{
	for (size_t i = 0; i < NR_INFO_STRINGS; i++) {
		const char **string = session_info_string_of(info, i);
		void *owned; /* a non-const pointer, to free a string that is const for others */

		memcpy(&owned, string, sizeof(owned));
		free(owned);
		*string = NULL;
	}
}

void session_totals_put(const struct session_totals *totals, struct buf *out)
{
	buf_put_varint(out, totals->samples);
	buf_put_varint(out, totals->lost);
	buf_put_varint(out, totals->lost_records);
	buf_put_varint(out, totals->throttled);
	buf_put_varint(out, totals->undecodable);
	buf_put_varint(out, totals->end_ns);
	buf_put_varint(out, totals->recorder_cpu_ns);
	buf_put_svarint(out, totals->target_status);
	buf_put_u8(out, totals->finished);
	buf_put_varint(out, SESSION_STACK_ENDS);
	for (size_t i = 0; i < SESSION_STACK_ENDS; i++)
		buf_put_varint(out, totals->stack_ends[i]);
	buf_put_varint(out, SESSION_EVENT_SHARES);
	for (size_t i = 0; i < SESSION_EVENT_SHARES; i++)
		buf_put_varint(out, totals->event_shares[i]);
	buf_put_varint(out, totals->dropped);
}

/* Reads the counts of stack ends. Totals of older versions lack them; those of newer versions can
 * have more. */
static void take_stack_ends(struct cursor *in, struct session_totals *t)
{
	uint64_t nr = cursor_left(in) ? cursor_varint(in) : 0;

	for (uint64_t i = 0; i < nr && !in->failed; i++) {
		uint64_t ends = cursor_varint(in);

		if (i < SESSION_STACK_ENDS)
			t->stack_ends[i] = ends;
	}
}

static void take_event_shares(struct cursor *in, struct session_totals *t)
{
	uint64_t nr = cursor_left(in) ? cursor_varint(in) : 0;

	for (uint64_t i = 0; i < nr && !in->failed; i++) {
		uint64_t share = cursor_varint(in);

		if (i < SESSION_EVENT_SHARES && share <= SESSION_SHARE_WHOLE + 1)
			t->event_shares[i] = (uint16_t)share;
	}
}

int session_totals_get(struct cursor *in, struct session_totals *ret_totals)
{
	struct session_totals t = { 0 };

	t.samples = cursor_varint(in);
	t.lost = cursor_varint(in);
	t.lost_records = cursor_varint(in);
	t.throttled = cursor_varint(in);
	t.undecodable = cursor_varint(in);
	t.end_ns = cursor_varint(in);
	t.recorder_cpu_ns = cursor_varint(in);
	t.target_status = (int32_t)cursor_svarint(in);
	t.finished = cursor_u8(in) == 1;
	take_stack_ends(in, &t);
	take_event_shares(in, &t);
	/* Totals of older versions end here. */
	t.dropped = cursor_left(in) ? cursor_varint(in) : 0;
	if (in->failed)
		return -EBADMSG;
	*ret_totals = t;
	return 0;
}

void session_totals_add(struct session_totals *sum, const struct session_totals *t)
{
	sum->samples += t->samples;
	sum->lost = saturating_add(sum->lost, t->lost);
	sum->dropped = saturating_add(sum->dropped, t->dropped);
	sum->lost_records += t->lost_records;
	sum->throttled += t->throttled;
	sum->undecodable += t->undecodable;
	sum->recorder_cpu_ns += t->recorder_cpu_ns;
	sum->finished &= t->finished;
	if (t->end_ns > sum->end_ns)
		sum->end_ns = t->end_ns;
	for (size_t i = 0; i < SESSION_STACK_ENDS; i++)
		sum->stack_ends[i] += t->stack_ends[i];
}
