/* SPDX-License-Identifier: GPL-2.0-or-later */
/* btf.h - reads function names from the type information of a BPF program (BTF).
 * Layer: capture.
 * The format: Linux's Documentation/bpf/btf.rst. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Returns the name of type `id`, borrowed from `btf`, or NULL if it has no name or the data is
 * malformed. `btf` is `len` bytes in this machine's byte order, 4-aligned, as the kernel
 * returns them. */
const char *btf_name(const void *btf, size_t len, uint32_t id);
