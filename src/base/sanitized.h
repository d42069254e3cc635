/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sanitized.h - IS_SANITIZED: true in a build with the address or thread sanitizer, which need
 * more memory and system calls than the program itself.
 * Layer: base. */
#pragma once
#include <stdbool.h>

/* gcc before version 14 does not define __has_feature. */
#ifdef __has_feature
#define SANITIZED_FEATURE(name) __has_feature(name)
#else
#define SANITIZED_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                   \
	SANITIZED_FEATURE(address_sanitizer) || SANITIZED_FEATURE(thread_sanitizer)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif
