/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_match.h - the error of a profile specification that selects no sample: it names the argument
 * that matches nothing in the recordings, and the closest match.
 * Layer: recordings. */
#pragma once

struct err;
struct report_sources;
struct spec;

/* Reads the names in the recordings again, without their samples, to find the first argument
 * that matches none of them. Returns -ENOENT with OProfile's message in *err, followed by that
 * argument and the closest match if known; or -ENOMEM. */
int no_match_error(const struct report_sources *sources, const struct spec *spec,
		   struct err *err);
