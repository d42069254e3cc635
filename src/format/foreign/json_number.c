/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/json_walk.h"

enum {
	EXPONENT_MAX = 1000,
	MILLION = 1000000
};

struct decimal {
	bool negative;
	uint64_t mantissa;
	int64_t exponent; /* power of ten */
};

/* Parses any number of digits. Once the value is full, further digits only change the exponent. */
static size_t json_number_digits(struct foreign_word w, size_t at, struct decimal *d,
				 bool fraction)
{
	for (; at < w.len && w.at[at] >= '0' && w.at[at] <= '9'; at++) {
		bool fits = d->mantissa < 1000000000000000000;

		if (fits)
			d->mantissa = d->mantissa * 10 + (uint64_t)(w.at[at] - '0');
		d->exponent += (fraction ? -1 : 0) + (fits ? 0 : 1);
	}
	return at;
}

static bool json_number_parse(struct foreign_word w, struct decimal *ret_d)
{
	struct decimal d = { .negative = w.len && w.at[0] == '-' };
	size_t at = json_number_digits(w, d.negative, &d, false);
	uint64_t exponent = 0;
	bool small;

	if (at < w.len && w.at[at] == '.')
		at = json_number_digits(w, at + 1, &d, true);
	if (at < w.len && (w.at[at] == 'e' || w.at[at] == 'E')) {
		small = ++at < w.len && w.at[at] == '-';
		at += at < w.len && (w.at[at] == '-' || w.at[at] == '+');
		if (!foreign_number((struct foreign_word){ w.at + at, w.len - at },
				    &exponent) ||
		    exponent > EXPONENT_MAX)
			return false;
		d.exponent += small ? -(int64_t)exponent : (int64_t)exponent;
		at = w.len;
	}
	*ret_d = d;
	return w.len && at == w.len;
}

bool json_value_split(const struct json_value *value, unsigned int digits,
		      int64_t *ret_whole, uint32_t *ret_millionths)
{
	uint64_t fraction = 0, unit = 1;
	struct decimal d;

	if (value->kind != JSON_NUMBER || !json_number_parse(value->text, &d))
		return false;
	d.exponent += digits;
	for (; d.exponent > 0 && d.mantissa; d.exponent--)
		if (__builtin_mul_overflow(d.mantissa, 10, &d.mantissa))
			return false;
	/* Move the decimal point to the left: the digits after it form the fraction, of which
	 * only the first six are kept. */
	for (; d.exponent < 0 && (d.mantissa || fraction); d.exponent++) {
		fraction += d.mantissa % 10 * unit;
		d.mantissa /= 10;
		unit *= 10;
		if (unit > MILLION) {
			fraction /= 10;
			unit /= 10;
		}
	}
	if (d.mantissa > INT64_MAX)
		return false;
	*ret_whole = d.negative ? -(int64_t)d.mantissa : (int64_t)d.mantissa;
	*ret_millionths = (uint32_t)(fraction * (MILLION / unit));
	return true;
}

bool json_value_scaled(const struct json_value *value, unsigned int digits,
		       int64_t *ret_v)
{
	uint32_t millionths;
	int64_t whole;

	if (!json_value_split(value, digits, &whole, &millionths))
		return false;
	if (millionths >= MILLION / 2 &&
	    __builtin_add_overflow(whole, value->text.at[0] == '-' ? -1 : 1, &whole))
		return false;
	*ret_v = whole;
	return true;
}

bool json_value_u32(const struct json_value *value, uint32_t *ret_v)
{
	uint32_t millionths;
	int64_t v;

	if (!json_value_split(value, 0, &v, &millionths) || millionths || v < 0 ||
	    v > UINT32_MAX)
		return false;
	*ret_v = (uint32_t)v;
	return true;
}
