/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quality.h - measures how reliable a profile is.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct actor;
struct position;
struct profile;

/* Returns true for a kernel function that enables interrupts, so that delayed timer interrupts
 * are delivered in it.  Its samples belong to code that ran before it. */
bool quality_enables_irqs(const char *symbol);
/* Counts the samples of a cell. */
void quality_add(struct profile *p, const struct actor *actor,
		 const struct position *position, uint32_t event, uint64_t samples);
/* The reason why the functions of an image are unknown, and how to fix it. */
struct quality_reason {
	const char *why;
	const char *help;
};
/* Returns the reason for this image, in static memory. */
const struct quality_reason *quality_reason(const struct profile *p, uint32_t image);
