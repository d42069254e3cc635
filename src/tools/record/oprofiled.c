/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oprofiled.c - `oprofile daemon`, called oprofiled: samples the whole system continuously. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "daemon/engine/engine.h"
#include "tools/cli/command.h"

enum {
	DEFAULT_HZ = 99
};

static const uint64_t default_rotate_ns = 600 * NS_PER_S;

static const struct option_row rows[] = {
	{ .name = "events",
	  .letter = 'e',
	  .kind = OPTION_LIST,
	  .value = "SPEC[,SPEC]",
	  .offset = OPTION(struct oprofiled_options, events),
	  .help = "Sample these events (syntax as for operf). Default: CPU cycles, or TIMER without a PMU, at --frequency." },
	{ .name = "event", .alias_of = "events", .help = "Same as --events." },
	{ .name = "frequency",
	  .letter = 'F',
	  .kind = OPTION_COUNT,
	  .value = "HZ",
	  .not_zero = true,
	  .offset = OPTION(struct oprofiled_options, frequency_hz),
	  .help = "Take N samples per second and CPU for events without a count (default 99)." },
	{ .name = "session-dir",
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct oprofiled_options, session_dir),
	  .help = "Store sessions in this existing directory (default: /var/lib/oprofile, created if needed)." },
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "HOW",
	  .offset = OPTION(struct oprofiled_options, callgraph),
	  .help = "Record call stacks: dwarf (default) unwinds a copy of the top of each stack, fp follows frame pointers, none disables them." },
	{ .name = "foreground",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct oprofiled_options, foreground),
	  .help = "Stay in the foreground and write the log to stderr." },
	{ .name = "paused",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct oprofiled_options, paused),
	  .help = "Start sampling only on `opcontrol --start`." },
	{ .name = "rotate",
	  .kind = OPTION_DURATION,
	  .value = "TIME",
	  .not_zero = true,
	  .offset = OPTION(struct oprofiled_options, rotate_ns),
	  .help = "Start a new segment of the session this often (default 10m)." },
	{ .name = "retain",
	  .kind = OPTION_TEXT,
	  .value = "SIZE,AGE",
	  .offset = OPTION(struct oprofiled_options, retain),
	  .help = "Limit the current session to this size (K, M, G, T) and age (m, h, d, w); either can be omitted (default 2G,30d)." },
	{ .name = "max-overhead",
	  .kind = OPTION_TEXT,
	  .value = "SHARE",
	  .offset = OPTION(struct oprofiled_options, max_overhead),
	  .help = "Reduce the rate when the daemon and the kernel's sampling use more than this share of CPU time (default 1%); none: never." },
	{ .name = "max-memory",
	  .kind = OPTION_TEXT,
	  .value = "SIZE",
	  .offset = OPTION(struct oprofiled_options, max_memory),
	  .help = "Restart the recording when it uses this much memory (K, M, G; default 112M)." },
	{ .name = "metrics-listen",
	  .kind = OPTION_TEXT,
	  .value = "[ADDR:]PORT",
	  .offset = OPTION(struct oprofiled_options, metrics_listen),
	  .help = "Serve metrics for Prometheus at http://ADDR:PORT/metrics; ADDR is a loopback address (default 127.0.0.1), port 0 selects a free port." },
	{ .name = "group",
	  .kind = OPTION_TEXT,
	  .value = "NAME",
	  .offset = OPTION(struct oprofiled_options, group),
	  .help = "Allow members of this group to control the daemon (default oprofile)." },
	{ .name = "vmlinux",
	  .letter = 'k',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct oprofiled_options, vmlinux),
	  .help = "Use this uncompressed kernel image with symbols. Default: save the symbols of the running kernel with the session." },
	{ .name = "no-vmlinux",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct oprofiled_options, no_vmlinux),
	  .help = "Use no kernel image (default)." },
	{ .name = "kernel-range",
	  .letter = 'r',
	  .kind = OPTION_TEXT,
	  .value = "START,END",
	  .offset = OPTION(struct oprofiled_options, kernel_range),
	  .help = "Ignored; accepted for old scripts." },
	{ .name = "image",
	  .kind = OPTION_TEXT,
	  .value = "LIST",
	  .offset = OPTION(struct oprofiled_options, image),
	  .help = "Only record samples in these binaries, or of processes that run them (comma-separated; all: any)." },
	{ .name = "separate-lib",
	  .kind = OPTION_TEXT,
	  .value = "0|1",
	  .offset = OPTION(struct oprofiled_options, separate_lib),
	  .help = "Ignored: recordings always separate libraries by application." },
	{ .name = "separate-kernel",
	  .kind = OPTION_TEXT,
	  .value = "0|1",
	  .offset = OPTION(struct oprofiled_options, separate_kernel),
	  .help = "Ignored: recordings always separate the kernel by application." },
	{ .name = "separate-thread",
	  .kind = OPTION_TEXT,
	  .value = "0|1",
	  .offset = OPTION(struct oprofiled_options, separate_thread),
	  .help = "Separate threads in reports by default." },
	{ .name = "separate-cpu",
	  .kind = OPTION_TEXT,
	  .value = "0|1",
	  .offset = OPTION(struct oprofiled_options, separate_cpu),
	  .help = "Separate CPUs in reports by default." },
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_TEXT,
	  .value = "LIST",
	  .value_optional = true,
	  .offset = OPTION(struct oprofiled_options, verbose),
	  .help = "Log more. LIST is ignored." },
	{ .name = "xen-image",
	  .kind = OPTION_REFUSED,
	  .value = "FILE",
	  .help = "Not supported.",
	  .refusal = "Xen's passive domains are not sampled by perf events" },
	{ .name = "xen-range",
	  .kind = OPTION_REFUSED,
	  .value = "START,END",
	  .help = "Not supported.",
	  .refusal = "Xen's passive domains are not sampled by perf events" },
	{ .name = "ext-feature",
	  .letter = 'x',
	  .kind = OPTION_REFUSED,
	  .value = "SPEC",
	  .help = "Not supported.",
	  .refusal = "IBS is a separate event: see ophelp for ibs_op" },
	{ .name = NULL }
};

static int oprofiled_check(const struct oprofiled_options *o, struct err *err)
{
	const struct {
		const char *name;
		const char *value;
	} flags[] = { { "separate-lib", o->separate_lib },
		      { "separate-kernel", o->separate_kernel },
		      { "separate-thread", o->separate_thread },
		      { "separate-cpu", o->separate_cpu } };

	for (size_t i = 0; i < COUNT_OF(flags); i++)
		if (flags[i].value && strcmp(flags[i].value, "0") != 0 &&
		    strcmp(flags[i].value, "1") != 0)
			return err_set(err, -EINVAL, "--%s=%s: give 0 or 1",
				       flags[i].name, flags[i].value);
	if (o->callgraph && strcmp(o->callgraph, "dwarf") != 0 &&
	    strcmp(o->callgraph, "fp") != 0 && strcmp(o->callgraph, "none") != 0)
		return err_set(err, -EINVAL,
			       "--callgraph=%s: expected dwarf, fp or none",
			       o->callgraph);
	return 0;
}

/* Parses the options that limit the stored data and the cost. */
static int take_bounds(struct oprofiled *d, struct err *err)
{
	const struct oprofiled_options *o = &d->options;
	struct retention memory;
	int r = retention_parse(o->retain, &d->upkeep.retention, err);

	if (r)
		return err_prefix(err, "--retain");
	if (retention_parse(o->max_memory, &memory, NULL) || !memory.max_bytes ||
	    memory.max_age_ns)
		return err_set(err, -EINVAL,
			       "--max-memory \"%s\": give a size, such as 112M",
			       o->max_memory);
	d->memory.max_bytes = memory.max_bytes;
	d->tables.max_bytes = memory.max_bytes / 2;
	if (strcmp(o->max_overhead, "none") != 0 &&
	    governor_parse(o->max_overhead, &d->governor.max_share))
		return err_set(
			err, -EINVAL,
			"--max-overhead \"%s\": give a share of the CPUs' time, such as 1%%, or none",
			o->max_overhead);
	d->governor.wanted_hz = d->governor.rate_hz = d->rate_hz;
	return 0;
}

/* Starts and runs the daemon. Returns an exit status, which no process sees if the daemon runs in
 * the background. */
static int oprofiled_start_parts(struct oprofiled *d)
{
	struct err err = { 0 };
	int r = oprofiled_check(&d->options, &err);

	if (!r)
		r = oprofiled_setup_options(d, &err);
	if (!r)
		r = take_bounds(d, &err);
	if (!r)
		oprofiled_keys_init(d);
	if (!r && !d->options.foreground) {
		r = background_fork(&d->background, &err);
		if (r == 1)
			return 0;
	}
	if (!r) {
		r = oprofiled_run(d, &err);
		/* Report the error to the process that started the daemon, if it still waits for
		 * the daemon to become ready. */
		if (r && d->background.ready_fd >= 0) {
			background_ready(&d->background, &err);
			return 1;
		}
	}
	if (r)
		command_error("%s", err.text);
	return r ? 1 : 0;
}

static int run_daemon(const struct command *self, int argc, char **argv)
{
	static struct oprofiled daemon = {
		.options = { .frequency_hz = DEFAULT_HZ,
			     .retain = "2G,30d",
			     .max_overhead = "1%",
			     .max_memory = "112M" },
		.background = { .ready_fd = -1 },
		.lock_fd = -1,
		.signal_fd = -1,
		.dir = { .samples_fd = -1, .lock_fd = -1 },
	};
	int first;
	int status;

	daemon.options.rotate_ns = default_rotate_ns;
	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &daemon.options,
				 &first);
	if (status < 0 && first < argc) {
		command_error("unexpected argument '%s' (see --help)", argv[first]);
		status = 1;
	}
	if (status < 0) {
		command_set_verbose(daemon.options.verbose != NULL);
		daemon.command = argv;
		daemon.nr_command = argc;
		daemon.rate_hz = daemon.options.frequency_hz;
		status = oprofiled_start_parts(&daemon);
	}
	daemonrc_done(&daemon.asked);
	daemonrc_done(&daemon.setup);
	vec_done(&daemon.options.events.values);
	return status;
}

extern const struct command command_daemon;
const struct command command_daemon = {
	.name = "daemon",
	.classic = "oprofiled",
	.summary = "sample the whole system continuously",
	.usage = "[options]",
	.notes =
		"opcontrol and oprofile status query the daemon through the socket /run/oprofile/control. OPROFILE_RUN_DIR names another directory.\n"
		"\n"
		"Examples:\n"
		"  oprofiled                  then: "
		"opreport, opreport --by comm,symbol\n"
		"  oprofiled --foreground --frequency 49 --session-dir /srv/profiles",
	.options = rows,
	.is_recorder = true,
	.run = run_daemon,
};
