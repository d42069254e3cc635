/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/daemon_numbers.h"

#include <string.h>

#include "base/buf.h"

#include "unit.h"

static const uint64_t cpus[] = { 7, 0, 35 };

static void told(const struct daemon_numbers *n, const char *status,
		 const char *metrics)
{
	struct buf out = { 0 };

	daemon_numbers_put_status(n, &out);
	buf_put_u8(&out, 0);
	assert_string_equal((char *)out.data, status);
	buf_clear(&out);
	daemon_numbers_put_metrics(n, &out);
	buf_put_u8(&out, 0);
	for (const char *at = metrics; *at; at += strlen(at) + 1)
		if (!strstr((char *)out.data, at))
			fail_msg("no \"%s\" in:\n%s", at, (char *)out.data);
	buf_done(&out);
}

static void prints_and_parses_all_numbers(void **state)
{
	const struct daemon_numbers n = { .is_sampling = true,
					  .has_share = true,
					  .rate_hz = 99,
					  .samples = 42,
					  .taken = 44,
					  .lost = 3,
					  .share = 0.00125,
					  .kernel_share = 0.0035,
					  .cpu_ns = 12034567890,
					  .tables_ns = 1234567890,
					  .tables_refused = 6,
					  .memory = 1 << 20,
					  .disk = UINT64_MAX,
					  .oldest = 1795000000,
					  .nr_cpus = 3,
					  .cpu_samples = cpus };

	(void)state;
	told(&n,
	     "rate 99\nsamples 42\nlost 3\ncost_cpu 0.00125\ncost_kernel "
	     "0.00350\ncpu_seconds 12.034\n"
	     "tables_cpu_seconds 1.234\ntables_refused 6\n"
	     "memory 1048576\ndisk 18446744073709551615\noldest 1795000000\n",
	     "# TYPE oprofile_sampling gauge\noprofile_sampling 1\n\0"
	     "# TYPE oprofile_rate_hertz gauge\noprofile_rate_hertz 99\n\0"
	     "# HELP oprofile_samples_total Samples taken.\n"
	     "# TYPE oprofile_samples_total counter\noprofile_samples_total 44\n\0"
	     "\noprofile_lost_samples_total 3\n\0"
	     "\noprofile_cpu_ratio 0.00125\n\0"
	     "\noprofile_kernel_cpu_ratio 0.00350\n\0"
	     "\noprofile_cpu_seconds_total 12.034\n\0"
	     "\noprofile_user_tables_cpu_seconds_total 1.234\n\0"
	     "\noprofile_user_tables_refused_total 6\n\0"
	     "\noprofile_resident_memory_bytes 1048576\n\0"
	     "\noprofile_session_bytes 18446744073709551615\n\0"
	     "\noprofile_oldest_sample_timestamp_seconds 1795000000\n\0"
	     "# TYPE oprofile_cpu_samples_total counter\n"
	     "oprofile_cpu_samples_total{cpu=\"0\"} 7\n"
	     "oprofile_cpu_samples_total{cpu=\"1\"} 0\n"
	     "oprofile_cpu_samples_total{cpu=\"2\"} 35\n\0");
}

static void fields_can_be_unknown(void **state)
{
	const struct daemon_numbers n = { .has_share = true,
					  .share = 0.5,
					  .kernel_share = -1 };

	(void)state;
	told(&n,
	     "rate 0\nsamples 0\nlost 0\ncost_cpu 0.50000\ncpu_seconds 0.000\n"
	     "tables_cpu_seconds 0.000\ntables_refused 0\n"
	     "memory 0\ndisk 0\noldest 0\n",
	     "\noprofile_cpu_ratio 0.50000\n\0");
}

static void omits_unknown_values(void **state)
{
	const struct daemon_numbers n = { .rate_hz = 99 };
	struct buf out = { 0 };

	(void)state;
	told(&n,
	     "rate 99\nsamples 0\nlost 0\ncpu_seconds 0.000\n"
	     "tables_cpu_seconds 0.000\ntables_refused 0\n"
	     "memory 0\ndisk 0\noldest 0\n",
	     "\noprofile_sampling 0\n\0");
	daemon_numbers_put_metrics(&n, &out);
	buf_put_u8(&out, 0);
	assert_null(strstr((char *)out.data, "oprofile_cpu_ratio"));
	assert_null(strstr((char *)out.data, "oldest"));
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_and_parses_all_numbers),
		cmocka_unit_test(fields_can_be_unknown),
		cmocka_unit_test(omits_unknown_values),
	};

	return UNIT_RUN(tests);
}
