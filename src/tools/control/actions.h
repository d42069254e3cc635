/* SPDX-License-Identifier: GPL-2.0-or-later */
/* actions.h - what opcontrol does.
 * Layer: tools.  All return an exit status, and have said what went wrong. */
#pragma once
#include <stdbool.h>

struct control;
struct err;

/* control_files.c: looks whether the kernel can sample, and mounts the control files. */
int control_init(struct control *c);
/* control_files.c: shuts down, and takes the control files away. */
int control_deinit(struct control *c);
/* Takes the options' settings, if there are any, and keeps them. */
int control_setup(struct control *c);
/* Starts the daemon if it does not run, and with `sample` the sampling. */
int control_start(struct control *c, bool sample);
int control_dump(struct control *c);
int control_stop(struct control *c);
int control_shutdown(struct control *c);
int control_reset(struct control *c);
int control_save(struct control *c);
/* False, and said: the daemon does not obey who calls, or who is not root has none to ask. */
bool control_may(struct control *c);
/* Says it: 1. */
int control_fail(const struct control *c, const struct err *err);
