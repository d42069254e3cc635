/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/named.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "format/foreign/foreign.h"
#include "format/foreign/head.h"

/* ---- binary ---- */

static bool named_begins(const struct foreign_head *h, const void *bytes, size_t len)
{
	return h->len >= len && !memcmp(h->bytes, bytes, len);
}

bool foreign_is_pe(const struct foreign_head *head)
{
	/* Where the DOS header contains the offset of the PE header. */
	const size_t at_offset = 0x3c;
	struct cursor c = cursor_le(head->bytes, head->len);
	const void *signature;

	if (!named_begins(head, "MZ", 2) || !cursor_take(&c, at_offset))
		return false;
	c.pos = cursor_u32(&c);
	if (c.failed || c.pos > c.len)
		return false;
	signature = cursor_take(&c, 4);
	return signature && !memcmp(signature, "PE\0", 4);
}

bool foreign_is_llvm_profile(const struct foreign_head *head)
{
	static const char *const magics[] = {
		"\xfflprofr\x81", "\x81rforpl\xff", "\xfflprofR\x81",
		"\x81Rforpl\xff", "\xfflprofi\x81", "\xffSPROF42",
	};

	for (size_t i = 0; i < COUNT_OF(magics); i++)
		if (named_begins(head, magics[i], 8))
			return true;
	return false;
}

bool foreign_is_gcov(const struct foreign_head *head)
{
	/* A version such as "*704" or "B23*" follows the magic. */
	return head->len > 8 && named_begins(head, "adcg", 4) &&
	       (head->bytes[4] == '*' || head->bytes[7] == '*' ||
		head->bytes[4] == 'R');
}

bool foreign_is_jitdump(const struct foreign_head *head)
{
	return named_begins(head, "DTiJ\1\0\0", 8) ||
	       named_begins(head, "JiTD\0\0\0\1", 8);
}

bool foreign_is_gmon(const struct foreign_head *head)
{
	return named_begins(head, "gmon\1\0\0", 8) ||
	       named_begins(head, "gmon\0\0\0\1", 8);
}

bool foreign_is_go_trace(const struct foreign_head *head)
{
	return named_begins(head, "go 1.", 5) && head->len >= 16 &&
	       memmem(head->bytes, 16, " trace\0", 7);
}

/* Returns whether the file begins with these words of 32 or (`wide`) 64 bits: 0, 3 (number of
 * header words that follow), 0, the period, 0. */
static bool is_gperftools_header(const struct foreign_head *head, bool wide)
{
	static const uint64_t wanted[] = { 0, 3, 0 };
	struct cursor c = cursor_le(head->bytes, head->len);
	uint64_t period, last;

	for (size_t i = 0; i < COUNT_OF(wanted); i++)
		if ((wide ? cursor_u64(&c) : cursor_u32(&c)) != wanted[i])
			return false;
	period = wide ? cursor_u64(&c) : cursor_u32(&c);
	last = wide ? cursor_u64(&c) : cursor_u32(&c);
	return !c.failed && period && !last;
}

bool foreign_is_gperftools_cpu(const struct foreign_head *head)
{
	return is_gperftools_header(head, true) || is_gperftools_header(head, false);
}

/* ---- text ---- */

bool foreign_is_heap_profile(const struct foreign_head *head)
{
	return foreign_head_has_first(head, "heap profile: ");
}

bool foreign_is_go_text(const struct foreign_head *head)
{
	return foreign_head_has_first(head, "goroutine profile: total ") ||
	       foreign_head_has_first(head, "threadcreate profile: total ") ||
	       foreign_head_has_first(head, "--- contention:") ||
	       foreign_head_has_first(head, "--- mutex:");
}

bool foreign_is_massif(const struct foreign_head *head)
{
	return foreign_head_has_first(head, "desc:") &&
	       foreign_head_has_line(head, "time_unit:");
}

bool foreign_is_gprof_text(const struct foreign_head *head)
{
	return foreign_head_has_line(head, "Flat profile:") &&
	       foreign_head_has_line(head, "Each sample counts as ");
}

bool foreign_is_perf_report_text(const struct foreign_head *head)
{
	return foreign_head_has_line(head, "# Overhead") ||
	       foreign_head_has_line(head, "# Children");
}

/* Returns whether the text contains raw records as perf script -D and perf report -D print them. */
bool foreign_is_perf_dump_text(const struct foreign_head *head)
{
	return foreign_head_has_line(head, ". ... raw event: size ");
}

bool foreign_is_opreport_text(const struct foreign_head *head)
{
	return foreign_head_has_first(head, "CPU: ") &&
	       (foreign_head_has_line(head, "Counted ") ||
		foreign_head_has_line(head, "Profiling through timer"));
}

bool foreign_is_bpftrace(const struct foreign_head *head)
{
	return foreign_head_has_line(head, "@") && foreign_head_has_line(head, "]: ");
}

/* Returns the number of hex digits at the start, if a space follows them, else 0. */
static size_t named_hex_word(const char *at, size_t len)
{
	size_t nr = 0;

	while (nr < len && isxdigit((unsigned char)at[nr]))
		nr++;
	return nr < len && at[nr] == ' ' ? nr : 0;
}

static bool is_perf_map_line(struct foreign_word w)
{
	size_t start = named_hex_word(w.at, w.len);
	size_t size = start ? named_hex_word(w.at + start + 1, w.len - start - 1) : 0;

	return size && w.len > start + size + 2;
}

bool foreign_is_perf_map(const struct foreign_head *head)
{
	const char *at = head->bytes;
	struct foreign_word line;
	size_t nr = 0;

	while (foreign_line(&at, head->bytes + head->lines_len, &line))
		if (is_perf_map_line(line))
			nr++;
		else if (line.len)
			return false;
	return nr;
}

/* ---- markup and JSON ---- */

bool foreign_is_markup(const struct foreign_head *head)
{
	struct foreign_word w = foreign_head_text(head);

	return w.len > 1 && w.at[0] == '<' &&
	       (w.at[1] == '?' || w.at[1] == '!' || isalpha((unsigned char)w.at[1])) &&
	       memchr(w.at, '>', w.len);
}

bool foreign_is_svg(const struct foreign_head *head)
{
	return foreign_is_markup(head) && memmem(head->bytes, head->len, "<svg", 4) &&
	       !memmem(head->bytes, head->len, "<html", 5);
}

/* Returns whether the text begins like JSON. Folded stacks can also begin with brackets, as in
 * "[[unknown]];f 1". */
bool foreign_is_json(const struct foreign_head *head)
{
	struct foreign_word w = foreign_head_text(head);
	const char *after;

	if (!w.len || (w.at[0] != '{' && w.at[0] != '['))
		return false;
	after = w.at + 1;
	while (after < w.at + w.len && isspace((unsigned char)*after))
		after++;
	if (after == w.at + w.len)
		return false;
	return w.at[0] == '{' ? strchr("\"}", *after) : strchr("{\"]", *after);
}
