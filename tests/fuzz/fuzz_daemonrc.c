/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_daemonrc.c - any bytes as settings of the daemon: they are refused with a message, or
 * can be written and read back unchanged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "daemon/server/daemonrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct daemonrc *a, const struct daemonrc *b)
{
	if (a->entries.nr != b->entries.nr)
		abort();
	for (size_t i = 0; i < a->entries.nr; i++) {
		if (strcmp(a->entries.at[i].key, b->entries.at[i].key) != 0 ||
		    strcmp(a->entries.at[i].value, b->entries.at[i].value) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct daemonrc rc = { 0 };
	struct daemonrc again = { 0 };
	struct err err = { 0 };
	struct buf text = { 0 };

	if (daemonrc_parse(&rc, "daemonrc", data, size, &err) && !err.text[0])
		abort();
	daemonrc_write(&rc, &text);
	if (!text.failed) {
		if (daemonrc_parse(&again, "daemonrc", text.data, text.len, NULL))
			abort();
		compare(&rc, &again);
	}
	for (size_t i = 0; i < daemonrc_nr_events(&rc); i++) {
		if (!daemonrc_event(&rc, i))
			abort();
	}
	daemonrc_clear_events(&rc);
	if (daemonrc_nr_events(&rc))
		abort();
	buf_done(&text);
	daemonrc_done(&rc);
	daemonrc_done(&again);
	return 0;
}
