/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sum_words FILE - measures the minimum cost of reading a file: one thread adds up its 8-byte
 * words. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 1 << 20
};

int main(int argc, char **argv)
{
	static uint64_t words[BUFFER_BYTES / sizeof(uint64_t)];
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	uint64_t sum = 0;
	ssize_t n;

	if (fd < 0) {
		fprintf(stderr, "usage: sum_words FILE\n");
		return EXIT_FAILURE;
	}
	while ((n = read(fd, words, sizeof(words))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(words[0]); i++)
			sum += words[i];
	printf("%" PRIu64 "\n", sum);
	close(fd);
	return n < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
