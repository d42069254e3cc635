/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_account.h - determines which user is charged for the unwind table of a binary: its owner.
 * Layer: record. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The account of files that are not limited: files of root on a mount whose owners are trusted,
 * and files of the daemon's user. */
#define TABLE_ACCOUNT_SYSTEM UINT64_MAX

/* Returns the account charged for reading the file open at `fd`. */
uint64_t table_account_of_file(int fd);
/* Returns the account of a user.  A user's subordinate user ids, which can own files in user
 * namespaces, share one account; `subuid_path` is /etc/subuid except in tests. */
uint64_t table_account_of_user(uid_t uid, const char *subuid_path);
/* Returns the user id of an account, or false for an account of subordinate ids. */
bool table_account_uid(uint64_t account, uid_t *ret_uid);
