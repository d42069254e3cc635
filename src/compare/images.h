/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.h - finds which binaries of different runs are the same: also after they were rebuilt,
 * moved or renamed.
 * Layer: compare.
 * The rules, in this order; an image of a run matches at most one of the other runs:
 *   1. the same path
 *   2. the same build-id
 *   3. the same file name, if no other image has it
 *   4. the same file name without digits and dots, if no other image has it: libz.so.1.2,
 *      libz.so.1.3
 *   5. functions of the same names take most of the samples in both */
#pragma once

struct comparison;

/* Fills c->images and the field `same` of the images of all runs.  Returns 0 or -ENOMEM. */
int images_match(struct comparison *c);
