/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tar_header.h - the header block of a tar member.
 * Layer: format, for tar_*.c only.  POSIX.1-2017, pax(1), table 4-14. */
#pragma once
#include <stdbool.h>

enum {
	TAR_BLOCK = 512,
	TAR_CHECKSUM_BLANK = ' '
};

struct tar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char owner[32];
	char group[32];
	char dev_major[8];
	char dev_minor[8];
	char prefix[155];
	char rest[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

/* Returns the sum of the header's bytes, with the checksum field counted as blanks. */
static inline unsigned int tar_header_sum(const struct tar_header *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	const unsigned char *skip = (const unsigned char *)h->checksum;
	unsigned int sum = 0;

	for (unsigned int i = 0; i < TAR_BLOCK; i++) {
		bool blank =
			bytes + i >= skip && bytes + i < skip + sizeof(h->checksum);

		sum += blank ? TAR_CHECKSUM_BLANK : bytes[i];
	}
	return sum;
}
