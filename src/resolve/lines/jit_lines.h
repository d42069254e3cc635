/* jit_lines.h - source lines of the code in a jitdump.
 * Layer: resolve.
 *
 * Code is told apart by its first address and its function's name: of what was loaded later at
 * the same address under the same name, the last one counts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/mapped.h"
#include "format/jit/jitdump.h"

struct jit_lines;

/* `dump` and its bytes outlive it.  0 or -ENOMEM. */
int jit_lines_new(const struct jitdump *dump, const struct mapped *bytes,
		  struct jit_lines **ret_lines);
void jit_lines_free(struct jit_lines *l); /* NULL is fine */
/* The code that lies at an address: of the function, if it has some there (NULL: whichever),
 * else what was loaded last.  NULL: there is none. */
const struct jitdump_code *jit_lines_code(const struct jit_lines *l, uint64_t address,
					  const char *function);
/* The line of an address of that code.  False: it has none. */
bool jit_lines_find(const struct jit_lines *l, const struct jitdump_code *code,
		    uint64_t address, const char **ret_file, uint32_t *ret_line);
