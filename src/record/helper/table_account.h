/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_account.h - which user pays for the unwind table of a binary: its owner.
 * Layer: record. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Files of root, on a mount whose owners are believed, and of the daemon's own user: not limited. */
#define TABLE_ACCOUNT_SYSTEM UINT64_MAX

/* The account that pays for reading the file open at `fd`. */
uint64_t table_account_of_file(int fd);
/* The account of a user.  Subordinate user ids, which a user may own files by (user namespaces), share
 * one account; `subuid_path` is /etc/subuid but in tests. */
uint64_t table_account_of_user(uid_t uid, const char *subuid_path);
/* The user id of an account; false: it is of subordinate ids. */
bool table_account_uid(uint64_t account, uid_t *ret_uid);
