/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/held_file.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/process_facts.h"
#include "base/log.h"
#include "record/keep/private_copy.h"
#include "record/keep/session_dir.h"
#include "resolve/jit/files.h"

static const uint64_t copies_max_bytes = 1 << 30; /* limit per recording */
static const int64_t day_s = 86400;

void file_holder_init(struct file_holder *h, const struct session_dir *dir)
{
	*h = (struct file_holder){ .dir = dir };
	lasting_mounts_init(&h->mounts, dir->writing);
}

void file_holder_done(struct file_holder *h)
{
	lasting_mounts_done(&h->mounts);
	shares_done(&h->copied);
}

static bool is_worth_a_copy(const struct file_holder *h,
			    const struct image_location *at, const struct stat *st,
			    uint64_t mount)
{
	if (!h->is_patient || at->inside || !st->st_nlink ||
	    !lasting_mounts_was_there(&h->mounts, mount))
		return true;
	return st->st_mtim.tv_sec > time(NULL) - day_s;
}

/* Charges a private copy to the user: each user may have at most as many bytes as remain for all
 * others. Returns 0 or a negative errno. */
static int charge_copy(struct file_holder *h, uint32_t user, uint64_t bytes)
{
	uint64_t left = copies_max_bytes - h->copied.total;

	if (bytes > left || shares_of(&h->copied, user) + bytes > left - bytes)
		return -EFBIG;
	return shares_add(&h->copied, user, bytes);
}

/* Replaces the file at f->fd by a private copy, and closes the file. */
static void replace_by_copy(struct file_holder *h, struct held_file *f)
{
	uint64_t bytes = (uint64_t)f->st.st_size;
	uint32_t user = (uint32_t)jit_uid(f->pid);
	int fd = f->fd;

	f->fd = -1;
	f->kind = HELD_NOTHING;
	if (charge_copy(h, user, bytes)) {
		close(fd);
		return;
	}
	fd = private_copy_take(fd, &f->st, process_async_user(f->pid), h->dir->writing);
	if (fd < 0) {
		log_say(LOG_DEBUG,
			"cannot copy a file of %llu bytes, so the recording keeps its mount busy: %s",
			(unsigned long long)bytes, strerror(-fd));
		shares_remove(&h->copied, user, bytes);
		return;
	}
	f->fd = fd;
	f->kind = HELD_COPY;
}

void held_file_take(struct file_holder *h, const struct image_location *at,
		    const struct image_opened *opened, struct held_file *ret_held)
{
	uint64_t mount = lasting_mounts_of(opened->fd);

	*ret_held = (struct held_file){
		.kind = HELD_FILE, .fd = opened->fd, .pid = at->pid, .st = opened->st
	};
	if (lasting_mounts_has(&h->mounts, mount))
		return;
	if (at->inside && lasting_mounts_is_root_of(mount, at->pid))
		ret_held->kind = HELD_WITH_PROCESS;
	else if (is_worth_a_copy(h, at, &opened->st, mount))
		replace_by_copy(h, ret_held);
	else
		held_file_close(ret_held);
}

bool held_file_is_over(struct held_file *f)
{
	bool had_ended = f->has_ended;

	if (f->kind != HELD_WITH_PROCESS || f->fd < 0)
		return false;
	f->has_ended = kill(f->pid, 0) && errno == ESRCH;
	return had_ended && f->has_ended;
}

void held_file_copy(struct file_holder *h, struct held_file *f)
{
	if (f->kind == HELD_WITH_PROCESS && f->fd >= 0)
		replace_by_copy(h, f);
}

void held_file_close(struct held_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	f->kind = HELD_NOTHING;
}
