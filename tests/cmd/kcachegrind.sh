#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kcachegrind.sh FILE PICTURE ASKED: opens a callgrind file in KCachegrind, shows the call graph of the
# function with most samples, makes a picture of it, and keeps what KCachegrind asked Graphviz to draw.
# Runs below xvfb-run and dbus-run-session, in a HOME of its own; 1280x800.
set -u
file=$1 picture=$2 asked=$3
tools=$(mktemp -d)
real=$(command -v dot)
# What KCachegrind draws it has laid out by dot.
printf '#!/bin/bash\ntee -a %q | %q "$@"\n' "$asked" "$real" >"$tools/dot"
chmod +x "$tools/dot"
PATH=$tools:$PATH kcachegrind -qwindowgeometry 1280x800+0+0 "$file" &
shown=$!
trap 'kill "$shown" 2>/dev/null; rm -r "$tools"' EXIT

click()
{
	xdotool mousemove "$1" "$2" click 1
}

# However slow the machine: the tip of the day is closed, the second line chosen, the tab opened, over
# and over, until a graph was drawn.
for ((i = 0; i < 60; i++)); do
	sleep 1
	click 798 499
	click 230 158
	click 521 757
	[ ! -s "$asked" ] || break
done
sleep 3
click 521 757
sleep 1
import -window root "$picture"
[ -s "$asked" ]
