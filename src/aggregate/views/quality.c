/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/quality.h"

#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "aggregate/views/view.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/shell_word.h"
#include "resolve/find/debug_remedy.h"
#include "resolve/symbolize/naming.h"

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
	[NAMING_OK] = { .why = "in no symbol of it",
			.help = "its symbols leave functions out; install its debug symbols",
			.debug_info = true },
	[NAMING_NO_SYMBOLS] = { .why = "stripped",
				.help = "install its debug symbols",
				.debug_info = true },
	[NAMING_NO_FILE] = { .why = "not found",
			     .help = "report on the machine where it was recorded, or restore the file",
			     .fix = "oprofile where " },
	[NAMING_OTHER_FILE] = { .why = "another file is there now",
				.help = "restore the recorded version, or record again",
				.fix = "oprofile where " },
	[NAMING_UNREADABLE] = { .why = "not readable",
				.help = "check its permissions; it has to be an ELF file",
				.fix = "ls -l " },
	[NAMING_AMBIGUOUS] = { .why = "more than one file has its name",
			       .help = "give the directory with the right one to --image-path",
			       .fix = "oprofile where " },
	[NAMING_UNVERIFIED] = { .why = "in no symbol of it, and it has no build-id to check",
				.help = "link it with --build-id",
				.debug_info = true },
	[NAMING_NO_KALLSYMS] = { .why = "kernel symbols were hidden",
				 .help = "record as root, or with kptr_restrict 0",
				 .fix = "sudo sysctl kernel.kptr_restrict=0" },
	[NAMING_FOREIGN] = { .why = "of another machine, without a build-id",
			     .help = "record with build-ids, or give --root a copy of that machine's files" },
	[NAMING_UNKNOWN_HOST] = { .why = "of an unknown machine, without a build-id",
				  .help = "record with build-ids, or give --root a copy of that machine's files" },
	[NAMING_NONE_EXPECTED] = { .why = "generated or unmapped code",
				   .help = "no symbol table exists for it; for a JIT compiler, record a program that writes a jitdump or perf map" },
};

bool quality_enables_irqs(const char *symbol)
{
	for (size_t i = 0; i < COUNT_OF(irq_enablers); i++) {
		if (!fnmatch(irq_enablers[i], symbol, 0))
			return true;
	}
	return false;
}

bool quality_has_skid(const struct profile_event *e)
{
	const uint32_t exact =
		EVENT_PRECISE | EVENT_TIMER | EVENT_MEMBER | EVENT_CALLS | EVENT_VALUES;

	return !(e->flags & exact) && e->type != PERF_TYPE_SOFTWARE &&
	       e->type != PERF_TYPE_TRACEPOINT && e->type != PERF_TYPE_BREAKPOINT;
}

void quality_add(struct profile *p, const struct actor *actor,
		 const struct position *position, uint32_t event, uint64_t samples)
{
	struct profile_quality *q = &p->quality;
	const struct profile_event *e = &p->events.at[event];
	const struct profile_function *f;
	struct profile_image *image;

	q->samples += samples;
	if (quality_has_skid(e))
		q->imprecise += samples;
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

void quality_put_fix(const struct profile *p, uint32_t image,
		     const struct distribution *distribution, struct buf *out)
{
	const struct profile_image *at = &p->images.at[image];
	const struct quality_reason *reason = quality_reason(p, image);
	const char *name = strtab_get(&p->strings, at->name);
	const struct debug_remedy remedy = {
		.distribution = distribution,
		.has_servers = naming_locations_has_servers(p->options.locations),
		.foreign = at->foreign,
		.path = name,
		.build_id = &at->build_id,
	};
	size_t len = reason->fix ? strlen(reason->fix) : 0;

	if (reason->debug_info)
		debug_remedy_put(out, &remedy);
	if (!len)
		return;
	buf_put(out, reason->fix, len);
	if (reason->fix[len - 1] == ' ')
		shell_word_put(out, name);
}
