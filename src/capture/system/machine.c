/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/elf_note.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "base/shell_word.h"

enum {
	/* Bytes to read of /proc/cpuinfo: enough for one CPU, while reading hundreds of CPUs takes
	 * milliseconds. */
	CPUINFO_BYTES = 4096,
	NOTES_BYTES_MAX = 1 << 16
};

static void machine_set_text(char to[MACHINE_TEXT_MAX], const char *from, size_t len)
{
	(void)snprintf(to, MACHINE_TEXT_MAX, "%.*s", (int)len, from);
}

/* Reads the first line of a small file. */
static void machine_read_line(const char *path, char to[MACHINE_TEXT_MAX])
{
	int fd = io_open(path, 0, 0);
	ssize_t n;

	if (fd < 0)
		return;
	n = io_pread_full(fd, to, MACHINE_TEXT_MAX - 1, 0);
	(void)close(fd);
	to[n > 0 ? n : 0] = '\0';
	to[strcspn(to, "\n")] = '\0';
}

/* Returns the value of a line "key<blanks>: value" of /proc/cpuinfo, or "". */
static void cpuinfo_value(const char *text, const char *key, char to[MACHINE_TEXT_MAX])
{
	size_t key_len = strlen(key);

	to[0] = '\0';
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		size_t blanks = 0;

		if (!strncmp(line, key, key_len)) {
			blanks = strspn(line + key_len, " \t");
			if (line[key_len + blanks] == ':') {
				const char *value = line + key_len + blanks + 1;

				value += strspn(value, " \t");
				machine_set_text(to, value,
						 (size_t)(line + len - value));
				return;
			}
		}
		line += len + (line[len] == '\n');
	}
}

/* Reads the CPU's name and frequency. Each architecture (x86, arm64 and others, POWER, s390x) has
 * a different line for the name. */
static void read_cpu(struct machine *m)
{
	static const char *const keys[] = { "model name", "cpu model", "cpu",
					    "Hardware", "vendor_id" };
	static const char *const clocks[] = { "cpu MHz", "clock", "cpu MHz dynamic" };
	char text[CPUINFO_BYTES];
	char mhz[MACHINE_TEXT_MAX] = "";
	int fd = io_open("/proc/cpuinfo", 0, 0);
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < COUNT_OF(keys) && !m->cpu_desc[0]; i++)
		cpuinfo_value(text, keys[i], m->cpu_desc);
	for (size_t i = 0; i < COUNT_OF(clocks) && !mhz[0]; i++)
		cpuinfo_value(text, clocks[i], mhz);
	mhz[strcspn(mhz, "M")] = '\0'; /* POWER: "3425.000000MHz" */
	(void)parse_double(mhz, &m->cpu_mhz);
}

static void read_kernel_build_id(struct machine *m)
{
	struct buf notes = { 0 };
	const uint8_t *id;
	size_t len;

	if (io_read_file("/sys/kernel/notes", &notes, NOTES_BYTES_MAX) == 0 &&
	    elf_note_build_id(notes.data, notes.len, false, &id, &len) == 0 &&
	    len <= BUILD_ID_MAX) {
		m->kernel_build_id.len = (uint8_t)len;
		memcpy(m->kernel_build_id.bytes, id, len);
	}
	buf_done(&notes);
}

void machine_read(struct machine *ret_machine)
{
	struct machine m = { 0 };
	struct utsname u;
	struct sysinfo info;
	long n;

	if (uname(&u) == 0) {
		machine_set_text(m.hostname, u.nodename, strlen(u.nodename));
		machine_set_text(m.os_release, u.release, strlen(u.release));
		machine_set_text(m.arch, u.machine, strlen(u.machine));
	}
	machine_read_line("/proc/sys/kernel/random/boot_id", m.boot_id);
	read_cpu(&m);
	read_kernel_build_id(&m);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	m.nr_cpus_online = n > 0 ? (uint32_t)n : 0;
	n = sysconf(_SC_NPROCESSORS_CONF);
	m.nr_cpus_available = n > 0 ? (uint32_t)n : 0;
	if (sysinfo(&info) == 0)
		m.total_mem_kb = (uint64_t)info.totalram * info.mem_unit / 1024;
	*ret_machine = m;
}

void machine_quote_command(char *const *argv, int argc, struct buf *out)
{
	for (int i = 0; i < argc; i++) {
		if (i)
			buf_put_u8(out, ' ');
		shell_word_put(out, argv[i]);
	}
	buf_put_u8(out, '\0');
}
