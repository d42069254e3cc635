/* quality.h - how far a profile can be trusted.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct actor;
struct place;
struct profile;

/* Is this a kernel function in which a timer interrupt that was held back is delivered,
 * because it enables interrupts again?  Its samples belong to code before it. */
bool quality_enables_irqs(const char *symbol);
/* Counts the samples of one cell; used by profile.c only. */
void quality_add(struct profile *p, const struct actor *actor,
		 const struct place *place, uint32_t event, uint64_t samples);
/* Why the functions of an image are unknown, and what would help. */
struct quality_reason {
	const char *why;
	const char *help;
};
const struct quality_reason *quality_reason(const struct profile *p, uint32_t image);
