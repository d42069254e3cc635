/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/student.h"

#include <math.h>

enum {
	FRACTION_STEPS = 300,
	BISECTIONS = 80,
	ASYMPTOTIC_FROM = 8 /* the series below are exact to 1e-9 from here on */
};

/* Returns the continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m <= FRACTION_STEPS; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd =
			-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		result *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return result;
}

/* Returns the regularized incomplete beta function; y is 1 - x, which is exact for x close to 1. */
static double beta_part(double a, double b, double x, double y)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double student_two_sided(double t, double df)
{
	const double sum = df + t * t;

	if (isinf(t))
		return 0;
	return beta_part(df / 2, 0.5, df / sum, t * t / sum);
}

static double student_density(double t, double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2) -
		   (df + 1) / 2 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/* Uses Newton's method, with bisection where it would leave the range. */
double student_critical(double alpha, double df)
{
	double low = 0, high = 2, t;

	while (student_two_sided(high, df) > alpha && high < 1e12) {
		low = high;
		high *= 2;
	}
	t = (low + high) / 2;
	for (int i = 0; i < BISECTIONS; i++) {
		const double excess = student_two_sided(t, df) - alpha;
		double next = t + excess / (2 * student_density(t, df));

		if (excess > 0)
			low = t;
		else
			high = t;
		if (!(next > low && next < high))
			next = (low + high) / 2;
		if (fabs(next - t) <= 1e-12 * t)
			return next;
		t = next;
	}
	return t;
}

double gamma_log_slope(double x)
{
	double below = 0;
	double square;

	while (x < ASYMPTOTIC_FROM)
		below -= 1 / x++;
	square = 1 / (x * x);
	return below + log(x) - 0.5 / x -
	       square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

double gamma_log_curve(double x)
{
	double below = 0;
	double square;

	while (x < ASYMPTOTIC_FROM) {
		below += 1 / (x * x);
		x++;
	}
	square = 1 / (x * x);
	return below +
	       (1 + 0.5 / x + square * (1.0 / 6 - square * (1.0 / 30 - square / 42))) /
		       x;
}

double gamma_log_curve_inverse(double y)
{
	double low = 1e-6, high = 1e9; /* the function decreases */

	for (int i = 0; i < BISECTIONS; i++) {
		const double middle = sqrt(low * high);

		if (gamma_log_curve(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}
