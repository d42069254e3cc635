/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/charge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/parse.h"

static const char attribute[] = "user.oprofile.uid";

int charge_set(const char *path, uint32_t uid)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", uid);
	return lsetxattr(path, attribute, text, strlen(text), 0) ? -errno : 0;
}

uint32_t charge_get(const char *path)
{
	char text[16];
	ssize_t len = lgetxattr(path, attribute, text, sizeof(text) - 1);
	uint64_t uid;

	if (len < 0)
		return CHARGE_UNKNOWN;
	text[len] = '\0';
	return parse_u64_max(text, CHARGE_UNKNOWN, &uid) ? (uint32_t)uid
							 : CHARGE_UNKNOWN;
}
