/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.h - matches the binaries of different runs, also if they were rebuilt, moved or
 * renamed.
 * Layer: compare.
 * The rules, in this order. Two images of the same run never match:
 *   1. the same path
 *   2. the same build-id
 *   3. the same file name, if no other image has it
 *   4. the same file name except for digits, dots, dashes and underscores, if no other image has
 *      it: libz.so.1.2, libz.so.1.3
 *   5. functions of the same names have at least half of the samples of both images */
#pragma once

struct comparison;

/* Fills c->images and the field `same` of the images of all runs.  Returns 0 or -ENOMEM. */
int images_match(struct comparison *c);
