/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_maps.h - parses the lines of /proc/PID/maps.
 * Layer: capture.  Source of the format: proc(5).  The text can be truncated or malicious. */
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
	bool deleted; /* the path ends in " (deleted)", which is part of `path` */
	/* borrowed, not NUL-terminated; "\012" represents a newline */
	const char *path;
	size_t path_len; /* 0: anonymous memory */
};

/* Parses the line at text[*pos] and moves *pos past it. A last line without a newline is parsed
 * only if `is_end`; otherwise it is left until more text has been read. Returns 0; 1 at the end
 * of the text (or of its complete lines); or -EBADMSG for a malformed line, after which the
 * caller can continue with the next one. */
int proc_map_next(const char *text, size_t len, size_t *pos, bool is_end,
		  struct proc_map *ret_map);
