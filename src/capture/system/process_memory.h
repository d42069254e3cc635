/* process_memory.h - memory of another process, which may be a file's on a server that does not
 * answer.
 * Layer: capture.  Like base/errand.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Copies up to `len` bytes from `address` on, page by page up to the first that is not there
 * (process_vm_readv(2)).  How many; 0 also if they did not come in time, or are waited for since an
 * earlier call. */
size_t process_memory_read(int32_t pid, uint64_t address, void *bytes, size_t len);
