# SPDX-License-Identifier: GPL-2.0-or-later
# same_build_id.bash - different programs with the same build-id, each of which needs its own
# unwind table.

# same_build_id PATH FRAME: builds a program with frames of this many bytes; all have the same
# build-id.
same_build_id()
{
	cat >"$1.c" <<-'END'
		#include <sys/prctl.h>
		#include <time.h>
		volatile unsigned long sum;
		__attribute__((noipa)) void leaf(volatile char *above)
		{
			volatile char room[FRAME];
			for (unsigned int i = 0; i < 20000000; i++)
				sum += room[i % FRAME] = above[i % FRAME];
		}
		__attribute__((noipa)) void middle(volatile char *above)
		{
			volatile char room[2 * FRAME];
			room[0] = above[0];
			leaf(room);
			sum++;
		}
		__attribute__((noipa)) void outer(void)
		{
			volatile char room[3 * FRAME];
			middle(room);
			sum++;
		}
		int main(int argc, char **argv)
		{
			(void)argc;
			prctl(PR_SET_NAME, argv[1]);
			while (clock() < 2 * CLOCKS_PER_SEC)
				outer();
			return 0;
		}
	END
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-stack-protector -DFRAME="$2" \
		-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -o "$1" "$1.c"
}

# Counts the complete stacks of a command by their number of frames, because symbols are looked up
# by build-id; at least nine of ten must be complete.
expect_whole()
{
	"$OPROFILE" export folded --session-dir "$session" --output - >"$BATS_TEST_TMPDIR/folded"
	awk -v comm="$1" '
		$0 !~ "^" comm ";" { next }
		{ all += $NF }
		/;(__libc_start[^;]*|0x[0-9a-f]*);[^;]*;[^;]*;[^;]*;[^;]* [0-9]+$/ { whole += $NF }
		END {
			print comm, whole + 0, "of", all
			exit !(all > 20 && whole > 0.9 * all)
		}' "$BATS_TEST_TMPDIR/folded"
}
