/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/table_account.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/files/io.h"
#include "base/parse.h"

enum {
	SUBUID_MAX_BYTES = 1 << 20,
	HASH_SEED = 3
};

/* Set in accounts of subordinate ids; the other bits are the hash of the user's name. */
static const uint64_t subordinate = 1ULL << 62;

/* Returns whether the line "USER:FIRST:COUNT" contains the id; splits the line at its colons. */
static bool line_has(char *line, uid_t uid)
{
	char *first = strchr(line, ':');
	char *count = first ? strchr(first + 1, ':') : NULL;
	uint64_t from, nr;

	if (!count)
		return false;
	*first++ = 0;
	*count++ = 0;
	return parse_u64(first, &from) && parse_u64(count, &nr) && uid >= from &&
	       uid - from < nr;
}

/* Returns the account for the name, or numeric id, of a user who has subordinate ids. */
static uint64_t account_of_name(const char *name)
{
	uint64_t uid;

	if (parse_u64(name, &uid) && uid <= UINT32_MAX)
		return uid;
	return subordinate | hash_bytes(name, strlen(name), HASH_SEED) >> 2;
}

uint64_t table_account_of_user(uid_t uid, const char *subuid_path)
{
	struct buf text = { 0 };
	uint64_t account = uid;
	char *line, *rest = NULL;

	if (!io_read_file(subuid_path, &text, SUBUID_MAX_BYTES)) {
		buf_put_u8(&text, 0);
		line = text.failed ? NULL : strtok_r((char *)text.data, "\n", &rest);
		for (; line; line = strtok_r(NULL, "\n", &rest)) {
			if (!line_has(line, uid))
				continue;
			account = account_of_name(line);
			break;
		}
	}
	buf_done(&text);
	return account;
}

/* Returns whether the owners of files on this mount can be trusted. On a FUSE or removable file
 * system, a user chooses the files' owners; such mounts ignore set-user-ID bits (nosuid). */
static bool is_believed(int fd)
{
	struct statvfs fs;

	return !fstatvfs(fd, &fs) && !(fs.f_flag & ST_NOSUID);
}

uint64_t table_account_of_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return (uid_t)-1;
	if (st.st_uid ? st.st_uid == geteuid() : is_believed(fd))
		return TABLE_ACCOUNT_SYSTEM;
	return table_account_of_user(st.st_uid, "/etc/subuid");
}

bool table_account_uid(uint64_t account, uid_t *ret_uid)
{
	if (account > UINT32_MAX)
		return false;
	*ret_uid = (uid_t)account;
	return true;
}
