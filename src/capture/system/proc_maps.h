/* proc_maps.h - the lines of /proc/PID/maps.
 * Layer: capture.  Source of the format: proc(5).  The text may be cut or hostile. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_map {
	uint64_t start, end;
	uint64_t pgoff; /* bytes */
	uint64_t ino;
	uint32_t maj, min;
	uint32_t prot; /* PROT_READ | PROT_WRITE | PROT_EXEC */
	bool shared;
	bool deleted;     /* the path ends in " (deleted)" (it is still part of it) */
	const char *path; /* borrowed, not terminated; "\012" stands for a newline */
	size_t path_len;  /* 0: anonymous memory */
};

/* Parses the line that begins at text[*pos] and moves *pos behind it.  A last line without
 * its newline is parsed if `is_end`, else left for when more text has been read.
 * 0, 1 at the end of the text (or of its whole lines), -EBADMSG for a line that is none:
 * *pos is behind it, and the walk may go on. */
int proc_map_next(const char *text, size_t len, size_t *pos, bool is_end,
		  struct proc_map *ret_map);
