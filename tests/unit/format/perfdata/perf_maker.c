/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perf_maker.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/err.h"
#include "base/files/io.h"
#include "unit.h"

static void put(struct perf_maker *m, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int shift = 8 * (m->big ? bytes - 1 - i : i);

		buf_put_u8(&m->out, (uint8_t)(v >> shift));
	}
}

void put2(struct perf_maker *m, uint16_t v)
{
	put(m, v, 2);
}

void put4(struct perf_maker *m, uint32_t v)
{
	put(m, v, 4);
}

void put8(struct perf_maker *m, uint64_t v)
{
	put(m, v, 8);
}

void put_text(struct perf_maker *m, const char *text, size_t bytes)
{
	size_t len = strlen(text);

	assert_true(len < bytes);
	buf_put(&m->out, text, len);
	for (size_t i = len; i < bytes; i++)
		buf_put_u8(&m->out, 0);
}

void set8(struct perf_maker *m, size_t at, uint64_t v)
{
	size_t len = m->out.len;

	m->out.len = at;
	put8(m, v);
	m->out.len = len;
}

void put_head(struct perf_maker *m, uint32_t type, uint16_t misc, size_t size)
{
	put4(m, type);
	put2(m, misc);
	put2(m, (uint16_t)size);
}

void put_record(struct perf_maker *m, uint32_t type, size_t size, uint8_t fill)
{
	put_head(m, type, 0, size);
	for (size_t i = 8; i < size; i++)
		buf_put_u8(&m->out, fill);
}

/* perf_event_open(2) gives the order of the fields. Of the flags, exclude_kernel is bit 5 and
 * precise_ip bits 15 and 16; compilers for big-endian machines count from the other end of the
 * word. */
void put_attr(struct perf_maker *m, size_t bytes)
{
	size_t start = m->out.len;

	put4(m, PERF_TYPE_SOFTWARE);
	put4(m, (uint32_t)bytes);
	put8(m, PERF_COUNT_SW_CPU_CLOCK);
	put8(m, 1000);
	put8(m, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW);
	put8(m, PERF_FORMAT_ID);
	if (m->big)
		put8(m, 1ULL << (63 - 5) | 1ULL << (63 - 16));
	else
		put8(m, 1ULL << 5 | 1ULL << 15);
	put4(m, 3); /* wakeup_events */
	put4(m, 0);
	put8(m, 0x1111); /* config1 */
	if (bytes >= 72)
		put8(m, 0x2222);
	if (bytes >= 80)
		put8(m, 0x3333); /* branch_sample_type */
	if (bytes >= 96) {
		put8(m, 0x4444); /* sample_regs_user */
		put4(m, 0x5555); /* sample_stack_user */
		put4(m, (uint32_t)-2);
	}
	for (uint8_t i = 0; m->out.len < start + bytes; i++)
		buf_put_u8(&m->out, (uint8_t)(0xe0 + i));
}

void maker_front(struct perf_maker *m, size_t attr_bytes)
{
	m->out.len = 0;
	buf_put(&m->out, m->big ? "2ELIFREP" : "PERFILE2", 8);
	put8(m, MAKER_HEADER);
	put8(m, attr_bytes + 16);
	put_section(m, MAKER_ATTRS, attr_bytes + 16);
	put_section(m, MAKER_ATTRS + attr_bytes + 16, 0);
	put_section(m, 0, 0);
	for (int i = 0; i < 4; i++)
		put8(m, 0);
	put8(m, 7);
	put8(m, 8);
	put_attr(m, attr_bytes);
	put_section(m, MAKER_IDS, (uint64_t)MAKER_NR_IDS * 8);
}

void put_section(struct perf_maker *m, uint64_t offset, uint64_t size)
{
	put8(m, offset);
	put8(m, size);
}

static uint64_t get8(const struct perf_maker *m, size_t at)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < 8; i++)
		v |= (uint64_t)m->out.data[at + i] << 8 * (m->big ? 7 - i : i);
	return v;
}

void maker_data_end(struct perf_maker *m, uint64_t features)
{
	set8(m, 48, m->out.len - get8(m, 40));
	set8(m, 72, features);
}

int maker_fd_of(const void *bytes, size_t len)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	return fd;
}

int maker_fd(const struct perf_maker *m)
{
	assert_false(m->out.failed);
	return maker_fd_of(m->out.data, m->out.len);
}

void maker_read_all(struct perf_input *in, struct seen *seen)
{
	bool swap = perf_input_info(in)->swap;
	struct perf_chunk c;

	while ((seen->result = perf_input_next(in, &c, NULL)) == 0) {
		for (size_t pos = 0; pos < c.len; seen->records++) {
			struct perf_event_header h;

			assert_true(c.len - pos >= sizeof(h));
			memcpy(&h, c.bytes + pos, sizeof(h));
			if (swap) {
				h.type = __builtin_bswap32(h.type);
				h.size = __builtin_bswap16(h.size);
			}
			assert_in_range(h.size, sizeof(h), c.len - pos);
			seen->types[h.type < 128 ? h.type : 0]++;
			pos += h.size;
		}
		seen->bytes += c.len;
		seen->ends = seen->ends * 31 + seen->bytes;
		buf_put(&seen->all, c.bytes, c.len);
		perf_input_release(in, &c);
	}
	seen->damage = *perf_input_damage(in);
}

void maker_read(int fd, struct seen *ret_seen, struct perf_input **ret_input)
{
	struct perf_input *in = NULL;
	struct err err = { 0 };

	*ret_seen = (struct seen){ 0 };
	ret_seen->opened = perf_input_open_fd(fd, "t", &in, &err);
	if (ret_seen->opened) {
		assert_int_equal(err.code, ret_seen->opened);
		assert_non_null(strstr(err.text, "'t'"));
		return;
	}
	maker_read_all(in, ret_seen);
	if (ret_input)
		*ret_input = in;
	else
		perf_input_close(in);
}

void maker_ask_for_stacks(struct perf_maker *m)
{
	const size_t sample_type = 24, sample_stack_user = 88;

	set8(m, MAKER_ATTRS + sample_type, PERF_SAMPLE_STACK_USER);
	set8(m, MAKER_ATTRS + sample_stack_user, 8192);
}

bool maker_read_short(int fd, unsigned long n, int *ret_result)
{
	struct perf_input *in = NULL;
	struct perf_chunk c;
	int r;

	alloc_fail_at(n);
	r = perf_input_open_fd(fd, "t", &in, NULL);
	while (r == 0) {
		r = perf_input_next(in, &c, NULL);
		if (r == 0)
			perf_input_release(in, &c);
	}
	perf_input_close(in);
	*ret_result = r;
	return alloc_fail_off();
}
