#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# deps.sh [--check | --try] GROUP...: installs the Debian packages of the groups, and prints their
# names. This is the only list of the project's dependencies. It does nothing if all are installed;
# without root it prints the command to run.
# --check only lists missing packages. --try is for optional packages of tests: a group that cannot
# be installed is reported in one line and is not a failure.
set -euo pipefail

packages_of()
{
	case $1 in
	build)
		echo gcc libc6-dev make meson ninja-build pkg-config
		echo libelf-dev libdw-dev libzstd-dev zlib1g-dev libxxhash-dev libiberty-dev liblzma-dev libbz2-dev
		echo libcurl4-openssl-dev libpfm4-dev libzydis-dev binutils-dev libfuse3-dev libyajl-dev libmicrohttpd-dev
		echo esbuild node-typescript
		;;
	demo) echo gzip ;;
	test) echo fuse3 squashfs-tools libcmocka-dev bats python3 python3-jsonschema cmark-gfm debuginfod nodejs gdb strace g++ systemd fish ;;
	readers) echo binutils elfutils golang-go llvm bolt-16 linux-perf valgrind openjdk-17-jdk-headless ;;
	# Compilers for tests that read their names and binaries; 1 GB.
	languages) echo golang-go ocaml-nox gcc-mingw-w64-x86-64 ;;
	# Programs that display our exports.
	screen) echo kcachegrind kcachegrind-converters graphviz xvfb xauth xdotool imagemagick dbus-daemon ;;
	lint) echo clang clang-format clang-tidy cppcheck libclang-rt-14-dev git mandoc zsh ;;
	fuzz) echo clang libclang-rt-14-dev ;;
	exact) echo binutils elfutils llvm gcc g++ gfortran clang lld dwz python3 ;;
	page) echo binutils chromium chromium-driver gcc python3 python3-jsonschema ;;
	exact-real)
		packages_of exact
		echo apt dpkg-dev patch tcl golang-go cargo rustc libeigen3-dev nlohmann-json3-dev
		# The crates of ripgrep.
		echo librust-bstr+default-dev librust-clap-2-dev librust-grep-dev
		echo librust-grep-searcher-dev librust-ignore-dev librust-lazy-static-dev
		echo librust-log-dev librust-num-cpus-dev librust-regex+default-dev
		echo librust-serde-json-dev librust-termcolor-dev
		;;
	bench) echo clang linux-perf python3 ;;
	vm)
		echo gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
		echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm
		echo qemu-system-x86 linux-perf cpio kmod python3 xz-utils zstd gzip systemd e2fsprogs
		;;
	*)
		echo "deps.sh: unknown group '$1'; groups: build demo test lint fuzz exact exact-real page readers languages screen bench vm" >&2
		exit 1
		;;
	esac
}

what_for()
{
	case $1 in
	readers) echo 'perf, Go, LLVM and BOLT, which read what we write; valgrind and the JDK, whose files we read' ;;
	languages) echo 'compilers of OCaml and for Windows' ;;
	screen) echo 'KCachegrind on a screen' ;;
	page) echo 'pages in a browser' ;;
	*) echo "$1" ;;
	esac
}

if [ "${1-}" = --try ]; then
	shift
	for group; do
		"$0" "$group" 2>/dev/null ||
			echo "Not to be installed here: $(what_for "$group"): NOT TESTED"
	done
	exit 0
fi
check_only=
if [ "${1-}" = --check ]; then
	check_only=1
	shift
fi
wanted=$(for group; do packages_of "$group"; done | tr ' ' '\n' | sort -u)

if ! command -v dpkg-query >/dev/null; then
	echo "deps.sh: this is no Debian; needed are what Debian calls:" $wanted >&2
	exit 0
fi
# dpkg-query fails if it does not know one of the packages.
have=$({ dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null || true; } |
	sed -n 's/ installed$//p' | sort -u)
missing=$(comm -23 <(echo "$wanted") <(echo "$have"))
[ -n "$missing" ] || exit 0

if [ -n "$check_only" ] || [ "$(id -u)" -ne 0 ]; then
	echo "Packages are missing:" $missing >&2
	echo "Run this, then try again:" >&2
	echo "  sudo apt-get install -y --no-install-recommends" $missing >&2
	exit 1
fi
echo "Installing packages:" $missing
export DEBIAN_FRONTEND=noninteractive
install_missing()
{
	apt-get install -y -q --no-install-recommends $missing </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install_missing >"$log" 2>&1; then
	# Old or missing package lists are the usual reason.
	if ! { apt-get update -q && install_missing; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "deps.sh: apt-get could not install them" >&2
		exit 1
	fi
fi
