/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service.h - what a daemon and the service manager that started it tell each other: systemd's
 * sd_notify(3), sd_listen_fds(3) and sd_watchdog_enabled(3), by the protocols that these pages
 * describe.
 * Layer: daemon. */
#pragma once
#include <stdint.h>

/* Sends "READY=1", "STATUS=text" ... to the manager.  Without one nothing happens. */
void service_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The Unix socket that the manager listens on for us, now with close-on-exec; -1: none. */
int service_listen_fd(void);
/* How often "WATCHDOG=1" is to be sent: half of the time that the manager waits; 0: never. */
uint64_t service_watchdog_ns(void);
