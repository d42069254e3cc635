/* btf.h - names of functions in the type information of a BPF program (BTF).
 * Layer: capture.
 * The format: Linux's Documentation/bpf/btf.rst. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The name of type `id` of `len` bytes in this machine's byte order, 4-aligned, as the kernel gives
 * them.  Borrowed from these; NULL: it has none, or the bytes are not sound. */
const char *btf_name(const void *btf, size_t len, uint32_t id);
