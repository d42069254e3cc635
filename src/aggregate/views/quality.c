/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/quality.h"

#include <fnmatch.h>
#include <stddef.h>

#include "aggregate/views/view.h"
#include "base/array.h"

static const char *const irq_enablers[] = {
	"_raw_spin_unlock_irqrestore",
	"_raw_spin_unlock_irq",
	"_raw_read_unlock_irq*",
	"_raw_write_unlock_irq*",
	"_raw_spin_unlock_bh",
	"__local_bh_enable_ip",
	"finish_task_switch*",
	"__do_softirq",
	"handle_softirqs",
	"exit_to_user_mode_loop",
	"syscall_enter_from_user_mode",
	"syscall_exit_to_user_mode",
	"irqentry_exit*",
	"*_safe_halt",
	"default_idle*",
	"acpi_idle_do_entry",
	"acpi_safe_halt",
	"cpuidle_enter_state",
	"do_idle",
	"__sti",
	"arch_local_irq_enable",
};

static const struct quality_reason reasons[NAMING_STATUS_COUNT] = {
	[NAMING_OK] = { "in no symbol of it",
			"its symbols leave functions out; install its debug symbols" },
	[NAMING_NO_SYMBOLS] = { "stripped", "install its debug symbols" },
	[NAMING_NO_FILE] = { "not found",
			     "report on the machine where it was recorded, or restore the file" },
	[NAMING_OTHER_FILE] = { "another file is there now",
				"restore the recorded version, or record again" },
	[NAMING_UNREADABLE] = { "not readable",
				"check its permissions; it has to be an ELF file" },
	[NAMING_AMBIGUOUS] = { "more than one file has its name",
			       "give the directory with the right one to --image-path" },
	[NAMING_UNVERIFIED] = { "in no symbol of it, and it has no build-id to check",
				"link it with --build-id" },
	[NAMING_NO_KALLSYMS] = { "kernel symbols were hidden",
				 "record as root, or with kptr_restrict 0" },
	[NAMING_FOREIGN] = { "of another machine, without a build-id",
			     "record with build-ids, or give --root a copy of that machine's files" },
	[NAMING_UNKNOWN_HOST] = { "of an unknown machine, without a build-id",
				  "record with build-ids, or give --root a copy of that machine's files" },
	[NAMING_NONE_EXPECTED] = { "generated or unmapped code",
				   "no symbol table exists for it" },
};

bool quality_enables_irqs(const char *symbol)
{
	for (size_t i = 0; i < COUNT_OF(irq_enablers); i++) {
		if (!fnmatch(irq_enablers[i], symbol, 0))
			return true;
	}
	return false;
}

void quality_add(struct profile *p, const struct actor *actor,
		 const struct position *position, uint32_t event, uint64_t samples)
{
	struct profile_quality *q = &p->quality;
	const struct profile_event *e = &p->events.at[event];
	const struct profile_function *f;
	struct profile_image *image;

	q->samples += samples;
	q->has_chains |= !!(e->flags & EVENT_CHAINS);
	if (actor->flags & ACTOR_IDLE)
		q->idle += samples;
	if (actor->flags & ACTOR_EXITING)
		q->exiting += samples;
	if (position->truncated)
		q->truncated += samples;
	if (position->function >= p->functions.nr)
		return;
	f = &p->functions.at[position->function];
	image = &p->images.at[f->image];
	image->samples += samples;
	if (f->kind != FUNCTION_NAMED) {
		image->unresolved += samples;
		q->unresolved += samples;
	} else if (e->flags & EVENT_TIMER && image->kind == IMAGE_KERNEL &&
		   quality_enables_irqs(strtab_get(&p->strings, f->raw))) {
		q->irqs_on_again += samples;
	}
}

const struct quality_reason *quality_reason(const struct profile *p, uint32_t image)
{
	enum naming_status status = p->images.at[image].status;

	return &reasons[status < NAMING_STATUS_COUNT ? status : NAMING_NONE_EXPECTED];
}
