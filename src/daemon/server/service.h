/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service.h - messages between a daemon and the service manager that started it: systemd's
 * sd_notify(3), sd_listen_fds(3) and sd_watchdog_enabled(3), by the protocols that these pages
 * describe.
 * Layer: daemon. */
#pragma once
#include <stdint.h>

/* Sends "READY=1", "STATUS=text" ... to the manager.  Does nothing without a manager. */
void service_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the Unix socket that the manager listens on for us, now with close-on-exec; -1: none. */
int service_listen_fd(void);
/* Returns how often to send "WATCHDOG=1": half of the manager's timeout; 0: never. */
uint64_t service_watchdog_ns(void);
