/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quality.h - measures how reliable a profile is.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct actor;
struct buf;
struct distribution;
struct position;
struct profile;
struct profile_event;

/* Returns true for a kernel function that enables interrupts, so that delayed timer interrupts
 * are delivered in it.  Its samples belong to code that ran before it. */
bool quality_enables_irqs(const char *symbol);
/* Returns true for an event of a counter whose interrupts arrive late, so that samples can belong
 * to an instruction that ran before. */
bool quality_has_skid(const struct profile_event *e);
/* Counts the samples of a cell. */
void quality_add(struct profile *p, const struct actor *actor,
		 const struct position *position, uint32_t event, uint64_t samples);
/* The reason why the functions of an image are unknown, and how to fix it. */
struct quality_reason {
	const char *why;
	const char *help;
	/* A command that fixes this or shows more details; NULL: none. If it ends in a blank, the
	 * path of the image must be appended. */
	const char *fix;
	bool debug_info; /* debug information of the image is missing */
};
/* Returns the reason for this image, in static memory. */
const struct quality_reason *quality_reason(const struct profile *p, uint32_t image);
/* Appends the command that makes the functions of the image known on this distribution. Appends
 * nothing if no command is known. */
void quality_put_fix(const struct profile *p, uint32_t image,
		     const struct distribution *distribution, struct buf *out);
