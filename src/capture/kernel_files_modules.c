#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_note.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/parse.h"
#include "capture/kernel_files_priv.h"

enum {
	PATH_BYTES = 1024,
	NAME_BYTES = 128,
	VALUE_BYTES = 64,
	NOTE_BYTES_MAX = 4096
};

/* A line of /proc/modules (proc(5)): name size users dependents state address. */
enum {
	FIELD_NAME = 0,
	FIELD_SIZE = 1,
	FIELD_ADDRESS = 5,
	NR_FIELDS
};

struct module {
	char name[NAME_BYTES];
	char size[VALUE_BYTES];
	char address[VALUE_BYTES];
};

static void set_value(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from);
}

/* The line at `at`; where the next one begins.  Module names have neither '/' nor blanks;
 * a line that is none leaves ret->name empty. */
static const char *parse_module(const char *at, struct module *ret)
{
	size_t len = strcspn(at, "\n");
	char *field[NR_FIELDS] = { 0 };
	char line[PATH_BYTES] = "";
	char *save = NULL;
	size_t nr = 0;

	memset(ret, 0, sizeof(*ret));
	if (len < sizeof(line))
		memcpy(line, at, len);
	for (char *word = strtok_r(line, " ", &save); word && nr < NR_FIELDS;
	     word = strtok_r(NULL, " ", &save))
		field[nr++] = word;
	if (nr == NR_FIELDS && !strchr(field[FIELD_NAME], '/') &&
	    *field[FIELD_NAME] != '.') {
		set_value(ret->name, sizeof(ret->name), field[FIELD_NAME]);
		set_value(ret->size, sizeof(ret->size), field[FIELD_SIZE]);
		set_value(ret->address, sizeof(ret->address), field[FIELD_ADDRESS]);
	}
	return at + len + (at[len] == '\n');
}

uint64_t kernel_files_modules_hash(const char *text)
{
	struct module m;
	uint64_t hash = 0;

	while (*text) {
		text = parse_module(text, &m);
		hash = hash_bytes(m.name, sizeof(m.name), hash);
		hash = hash_bytes(m.address, sizeof(m.address), hash);
	}
	return hash;
}

static void put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* The id of /sys/module/NAME/notes/.note.gnu.build-id in hex, or "-". */
static void put_build_id(struct buf *out, const char *sys_module, const char *name)
{
	char path[PATH_BYTES];
	struct buf notes = { 0 };
	const uint8_t *id;
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "%s/%s/notes/.note.gnu.build-id", sys_module,
		       name);
	if (io_read_file(path, &notes, NOTE_BYTES_MAX) < 0 ||
	    elf_note_build_id(notes.data, notes.len, false, &id, &len) < 0)
		put_text(out, "-");
	for (size_t i = 0; i < len; i++) {
		char hex[3];

		(void)snprintf(hex, sizeof(hex), "%02x", id[i]);
		put_text(out, hex);
	}
	buf_done(&notes);
}

/* " .text=0xffff..." for a section whose address root may read and is not hidden. */
static void put_section(struct buf *out, const char *dir, const char *section)
{
	char path[PATH_BYTES + 256];
	char text[VALUE_BYTES];
	uint64_t address;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, section);
	fd = io_open(path, O_RDONLY, 0);
	if (fd < 0)
		return;
	n = io_pread_full(fd, text, sizeof(text) - 1, 0);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!parse_u64(text, &address) || !address || strpbrk(section, " \n="))
		return;
	put_text(out, " ");
	put_text(out, section);
	put_text(out, "=");
	put_text(out, text);
}

static int is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Sorted, so that the same modules give the same file. */
static void put_sections(struct buf *out, const char *sys_module, const char *name)
{
	struct dirent **entries;
	char dir[PATH_BYTES];
	int nr;

	(void)snprintf(dir, sizeof(dir), "%s/%s/sections", sys_module, name);
	nr = scandir(dir, &entries, is_name, alphasort);
	if (nr < 0)
		return;
	for (int i = 0; i < nr; i++) {
		put_section(out, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

void kernel_files_describe_modules(const char *text, const char *sys_module,
				   struct buf *out)
{
	struct module m;

	while (*text) {
		text = parse_module(text, &m);
		if (!m.name[0])
			continue;
		put_text(out, m.name);
		put_text(out, " ");
		put_text(out, m.address);
		put_text(out, " ");
		put_text(out, m.size);
		put_text(out, " ");
		put_build_id(out, sys_module, m.name);
		put_sections(out, sys_module, m.name);
		put_text(out, "\n");
	}
}
