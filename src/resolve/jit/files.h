/* files.h - where just-in-time compilers tell of their code: the maps /tmp/perf-PID.map and
 * the jitdump files that processes map to be found by (docs/jit.md).
 * Layer: resolve.  Any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Whether a file may be a jitdump, by its name without folders; N.dump is one of OProfile's. */
bool jit_is_dump_name(const char *name);
/* The file name in the path of a jitdump, jit-NUMBER.dump; NULL: it is none. */
const char *jit_dump_name(const char *path);
/* Opens a regular file for reading, under no other name than its own: somebody else may own the
 * folder, and a link there would put any file of this machine into an archive.  `inode` 0:
 * any.  The descriptor or a negative errno. */
int jit_open(const char *path, uint64_t inode);
/* The same of a session's copy.  -ENOENT if it is damaged, which is reported. */
int jit_open_kept(const char *path);
/* What a process takes itself for: the last number of its line "NSpid:", proc(5); its own
 * number if it is gone. */
int32_t jit_own_pid(int32_t pid);
/* Whose files a process makes, proc(5), "Uid:"; -1 if it is gone. */
int64_t jit_uid(int32_t pid);
/* Whether an open file may name the code of a process of `uid` (-1: unknown): it belongs to that user, to the
 * caller or to root.  Any user can write /tmp/perf-PID.map for a process of another one. */
bool jit_is_of(int fd, int64_t uid);
/* Whether it may also be copied: every user may read it, or it is that user's or our own, if that is not
 * root. */
bool jit_may_be_copied(int fd, int64_t uid);

/* Where the files of a recording are. */
struct jit_places {
	const char *session_dir; /* of a recording that kept them; "" none */
	const char *root; /* an archive, or another root; "" none: this machine ... */
	bool here;        /* ... if it was recorded here */
	uint64_t since_wall_ns; /* what is older is another process's; 0 unknown */
	uint64_t until_wall_ns; /* the recording's end: what is newer may be another
				 * process's, if this one does not live; 0 unknown */
};
/* The recording's end for jit_places, of the file that it was written to: when that changed last.  0 of anything but a
 * regular file. */
uint64_t jit_recorded_until(const char *path);
/* Opens the map of process `pid`.  *ret_path (malloc'd) is where it was found; both are the
 * caller's.  0, -ENOENT or -ENOMEM. */
int jit_open_map(const struct jit_places *places, int32_t pid, int *ret_fd,
		 char **ret_path);
/* The same for a jitdump that process `pid` mapped from `path` with that inode. */
int jit_open_dump(const struct jit_places *places, int32_t pid, const char *path,
		  uint64_t inode, int *ret_fd, char **ret_path);
