/* hit_sources.h - the source files that the code at some places of a binary comes from.
 * Layer: resolve.  By libdw, line table by line table: for those who need files, not lines. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;

/* Is told of each path, some of them more than once; `dir` is the folder in which the compiler
 * ran, "" if it is not known.  A relative `path` is meant from there.  A negative errno ends
 * it. */
typedef int (*hit_source_fn)(void *ctx, const char *path, const char *dir);

/* `offsets`: file offsets of code in the binary at `path`, ascending, each once; `debug_path`:
 * its separate debug file, NULL if there is none.  Lines at these places, and those of the
 * calls that were inlined there.  0 also if there is no debug information; -EBADMSG (no ELF
 * file), -ENOMEM, an I/O error, or what `fn` said. */
int hit_sources(const char *path, const char *debug_path, const uint64_t *offsets,
		size_t nr, hit_source_fn fn, void *ctx);
