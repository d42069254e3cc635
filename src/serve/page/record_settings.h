/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_settings.h - remembers the form of the page, as the JSON that the page sends, in
 * ~/.oprofile/record.json.
 * Layer: serve. */
#pragma once
#include <stddef.h>

struct buf;
struct err;

/* Appends the stored JSON, or "{}" if no settings are stored.  Returns 0, or a negative errno with a message
 * in *err. */
int record_settings_load(struct buf *out, struct err *err);
/* Stores the JSON if it is one object. Returns 0, or a negative errno with a message in *err. */
int record_settings_save(const char *json, size_t len, struct err *err);
