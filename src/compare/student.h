/* SPDX-License-Identifier: GPL-2.0-or-later */
/* student.h - Student's t distribution and the derivatives of the log-gamma function.
 * Layer: compare.  Pure functions. */
#pragma once

/* Returns the probability that |T| exceeds |t| with `df` > 0 degrees of freedom. */
double student_two_sided(double t, double df);
/* Returns the t that |T| exceeds with probability `alpha` (0 < alpha < 1). */
double student_critical(double alpha, double df);
/* Return the first and the second derivative of lgamma(x), for x > 0. */
double gamma_log_slope(double x);
double gamma_log_curve(double x);
/* Returns the x with gamma_log_curve(x) == y, for y > 0. */
double gamma_log_curve_inverse(double y);
