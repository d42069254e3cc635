/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_memory.h - reads memory of another process, which can be mapped from a file on a server
 * that does not respond.
 * Layer: capture. Only one thread of a process may use it (base/async_call.h). */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Copies up to `len` bytes from `address`, page by page up to the first unmapped page
 * (process_vm_readv(2)). Returns how many bytes were copied: 0 if the read timed out, or if an
 * earlier read still hangs. */
size_t process_memory_read(int32_t pid, uint64_t address, void *bytes, size_t len);
