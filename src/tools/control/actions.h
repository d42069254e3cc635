/* SPDX-License-Identifier: GPL-2.0-or-later */
/* actions.h - opcontrol's actions.
 * Layer: tools.  All functions return an exit status and have reported errors. */
#pragma once
#include <stdbool.h>

struct control;
struct err;

/* Checks that the kernel can sample, and mounts the control files. */
int control_init(struct control *c);
/* Shuts the daemon down, and unmounts the control files. */
int control_deinit(struct control *c);
/* Applies and saves the settings among the options, if any. */
int control_setup(struct control *c);
/* Starts the daemon if it does not run, and with `sample` also starts sampling. */
int control_start(struct control *c, bool sample);
int control_dump(struct control *c);
int control_stop(struct control *c);
int control_shutdown(struct control *c);
int control_reset(struct control *c);
int control_save(struct control *c);
/* Returns whether the user may control the daemon. If not, because the daemon does not permit it,
 * or because no daemon runs and the user is not root, prints a message. */
bool control_may(struct control *c);
/* Prints the error and returns the exit status 1. */
int control_fail(const struct control *c, const struct err *err);
