/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odb_convert.h - converts a sample file of OProfile to the layout of this machine, as OProfile's
 * opimport does.
 * Layer: import. */
#pragma once
#include <stdbool.h>

struct err;

struct odb_conversion {
	const char *from;
	const char *abi; /* file that describes the layout of `from`; NULL: detect it */
	const char *to;
	bool force; /* convert even if the layout is already that of this machine */
};

/* Converts a sample file to version 0x13. For a .jo file, warns and writes nothing. Returns 0;
 * -EALREADY with a message if the file already has this machine's layout and `force` is false;
 * or another negative errno with a message. */
int odb_convert(const struct odb_conversion *conversion, struct err *err);
