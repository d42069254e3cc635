/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.c - checks what JIT compilers and interpreters need so that their code gets names
 * (docs/jit.md). */
#include "doctor/runtimes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/program_find.h"
#include "doctor/doctor_priv.h"

static const char group[] = "JIT compilers";

static const struct runtime runtimes[] = {
	{ "java", RUNTIME_JIT, JAVA_FIX },
	{ "node", RUNTIME_JIT,
	  "node --perf-basic-prof --interpreted-frames-native-stack ..." },
	{ "nodejs", RUNTIME_JIT,
	  "node --perf-basic-prof --interpreted-frames-native-stack ..." },
	{ "python", RUNTIME_INTERPRETER, "python3 -X perf ... (Python 3.12 or later)" },
	{ "dotnet", RUNTIME_JIT, "export DOTNET_PerfMapEnabled=1" },
	{ "ruby", RUNTIME_INTERPRETER, "ruby --yjit --yjit-perf=map ..." },
	{ "julia", RUNTIME_JIT, "export ENABLE_JITPROFILING=1" },
	{ "wasmtime", RUNTIME_JIT, "wasmtime --profile=jitdump ..." },
	{ "erl", RUNTIME_JIT, "erl +JPperf true ..." },
	{ "beam.smp", RUNTIME_JIT, "erl +JPperf true ..." },
	{ "luajit", RUNTIME_JIT, NULL },
	{ "php", RUNTIME_INTERPRETER, NULL },
	{ "perl", RUNTIME_INTERPRETER, NULL },
	{ "bash", RUNTIME_INTERPRETER, NULL },
	{ "sh", RUNTIME_INTERPRETER, NULL },
	{ "dash", RUNTIME_INTERPRETER, NULL },
};

/* Also finds a name with a version at its end, such as python3.12. */
const struct runtime *runtime_find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(runtimes); i++) {
		size_t len = strlen(runtimes[i].name);

		if (!strncmp(name, runtimes[i].name, len) &&
		    strspn(name + len, "0123456789.-") == strlen(name + len))
			return &runtimes[i];
	}
	return NULL;
}

bool runtime_is_set_up(const struct runtime *r)
{
	const char *java = getenv("JAVA_TOOL_OPTIONS");
	const char *dotnet = getenv("DOTNET_PerfMapEnabled");
	const char *julia = getenv("ENABLE_JITPROFILING");

	if (!strcmp(r->name, "java"))
		return java &&
		       (strstr(java, "DumpPerfMapAtExit") || strstr(java, "-agent"));
	if (!strcmp(r->name, "dotnet"))
		return dotnet && *dotnet && *dotnet != '0';
	if (!strcmp(r->name, "julia"))
		return julia && *julia == '1';
	return false;
}

static void check_tmp(struct doctor *d)
{
	bool writable = doctor_access(d, "/tmp", W_OK | X_OK);

	doctor_add(d, group, "/tmp", writable ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
		   writable ? "writable" : "not writable");
	doctor_cost(d, "JIT compilers cannot write perf maps and jitdumps");
	doctor_fix(d, "sudo chmod 1777 /tmp");
}

/* Finds libopagent, the library that JIT compilers load, in the usual library directories and in
 * the library directory of this build. Returns false if none of them has a readable copy. */
static bool find_agent(const struct doctor *d, char ret_path[DOCTOR_PATH_MAX])
{
	static const char *const dirs[] = { "/usr/local/lib",    "/usr/local/lib64",
					    "/usr/lib",          "/usr/lib64",
					    "/usr/lib/oprofile", "/usr/lib64/oprofile",
					    OPROFILE_LIBDIR };

	for (size_t i = 0; i < COUNT_OF(dirs); i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "%s/libopagent.so.1", dirs[i]);
		if (doctor_access(d, path, R_OK)) {
			doctor_path(d, path, ret_path);
			return true;
		}
	}
	return false;
}

static void check_agent(struct doctor *d)
{
	char path[DOCTOR_PATH_MAX];
	bool found = find_agent(d, path);

	doctor_add(d, group, "libopagent", found ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
		   found ? path : "not installed");
	doctor_cost(d, "JIT compilers that use OProfile's agent write no jitdumps");
	doctor_fix(d, "sudo meson install -C build-dir");
}

static void check_java(struct doctor *d)
{
	const struct runtime *java = runtime_find("java");

	if (!program_can_run("java")) {
		doctor_add(d, group, "Java", DOCTOR_OK, "not installed");
		return;
	}
	doctor_add(d, group, "Java",
		   runtime_is_set_up(java) ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
		   runtime_is_set_up(java) ? "JAVA_TOOL_OPTIONS writes names of methods"
					   : "JAVA_TOOL_OPTIONS does not write names");
	doctor_cost(d, "compiled methods have no names");
	doctor_fix(d, "%s", java->fix);
}

void doctor_jit(struct doctor *d)
{
	check_tmp(d);
	check_agent(d);
	check_java(d);
}
