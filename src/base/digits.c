#include "base/digits.h"

#include <string.h>

size_t digits_of(char digits[DIGITS_MAX], uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	size_t at = DIGITS_MAX;

	while (v >= 100) {
		at -= 2;
		memcpy(digits + at, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(digits + at, pairs + v * 2, 2);
	} else {
		digits[--at] = (char)('0' + v);
	}
	return DIGITS_MAX - at;
}
