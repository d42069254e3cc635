# SPDX-License-Identifier: GPL-2.0-or-later
# machine.bash - Debian packages and emulated machines, for the tests of this directory. All files
# are created in $folder.

# fetch_packages ARCHITECTURE PACKAGE...: fetches them into $folder/debs from this machine's
# archives, with a separate apt state, so that nothing on this machine changes.
fetch_packages()
{
	local apt=$folder/apt architecture=$1
	shift
	mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,preferences} "$folder/debs"
	: >"$apt/status"
	apt_options=(-q -o APT::Architecture="$architecture"
		-o APT::Architectures::="$architecture" -o Dir::State="$apt/state"
		-o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
		-o Dir::Etc::preferencesparts="$apt/preferences"
		-o APT::Sandbox::User=root -o Acquire::Languages=none)
	apt-get "${apt_options[@]}" update &&
		(cd "$folder/debs" && apt-get "${apt_options[@]}" download "$@")
}

# fetch_kernel ARCHITECTURE META: fetches the kernel of the package META, and busybox, and unpacks
# them in $folder/kernel. Sets $release.
fetch_kernel()
{
	local deb image
	if [ ! -f "$folder/kernel/complete" ]; then
		rm -rf "$folder/kernel" "$folder/debs"
		mkdir -p "$folder/kernel"
		fetch_packages "$1" busybox-static || return 1
		image=$(apt-cache "${apt_options[@]}" depends "$2" |
			sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
		[ -n "$image" ] || return 1
		(cd "$folder/debs" && apt-get "${apt_options[@]}" download "$image") || return 1
		for deb in "$folder"/debs/*.deb; do
			dpkg-deb -x "$deb" "$folder/kernel" || return 1
		done
		release=$(ls "$folder/kernel/lib/modules")
		depmod -b "$folder/kernel" "$release" || return 1
		rm -rf "$folder/debs"
		: >"$folder/kernel/complete"
	fi
	release=$(ls "$folder/kernel/lib/modules")
}

# begin_root: makes an empty root directory with busybox in $root.
begin_root()
{
	root=$folder/root
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,etc,lib,mnt,out,proc,root,sys,tmp}
	cp "$folder/kernel/bin/busybox" "$root/bin/busybox"
}

# add_modules NAME...: copies these modules and their dependencies to where modprobe finds them.
add_modules()
{
	local from=$folder/kernel/lib/modules/$release to=$root/lib/modules/$release name file
	mkdir -p "$to"
	for name; do
		for file in $(sed -n "s|^\([^:]*/$name\.ko[^:]*\): *|\1 |p" "$from/modules.dep"); do
			mkdir -p "$to/${file%/*}"
			cp "$from/$file" "$to/$file"
		done
	done
	depmod -b "$root" "$release" 2>/dev/null
}

# add_program FILE [NAME]: copies a program of this machine with its libraries.
add_program()
{
	local library
	cp -L "$1" "$root/bin/${2:-${1##*/}}"
	for library in $(ldd "$1" | sed -n 's/^[^/]*\(\/[^ ]*\) (.*/\1/p'); do
		[ -e "$root$library" ] && continue
		mkdir -p "$root${library%/*}"
		cp -L "$library" "$root$library"
	done
}

# run_machine SECONDS QEMU...: boots the kernel with $root, whose /init ends with the commands of
# `finish`. Afterwards $folder/out has the files of /out, and $folder/console has the console's
# text.
run_machine()
{
	local seconds=$1
	shift
	cat >"$root/bin/finish" <<'END'
#!/bin/sh
tar cf /dev/vda -C /out . && sync
poweroff -f
END
	chmod +x "$root/bin/finish" "$root/init"
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$folder/initrd"
	rm -rf "$folder/out" "$folder/disk"
	mkdir "$folder/out"
	truncate -s 256M "$folder/disk"
	timeout "$seconds" "$@" -smp 1 -nographic -no-reboot -kernel "$folder"/kernel/boot/vmlinuz-* \
		-initrd "$folder/initrd" -drive "file=$folder/disk,if=none,id=disk,format=raw" \
		-device virtio-blk-pci,drive=disk </dev/null >"$folder/console" 2>&1 ||
		return 1
	tar -xf "$folder/disk" -C "$folder/out" 2>/dev/null
	rm -f "$folder/disk" "$folder/initrd"
	[ -f "$folder/out/complete" ]
}

# begin_init: writes the first lines of $root/init.
begin_init()
{
	cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox mkdir -p /sbin
/bin/busybox --install -s /bin
/bin/busybox ln -s /bin/busybox /sbin/modprobe
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
echo 0 >/proc/sys/kernel/kptr_restrict
echo -1 >/proc/sys/kernel/perf_event_paranoid
modprobe virtio_pci
modprobe virtio_blk
END
}

# cross_build DEBIAN-ARCHITECTURE TRIPLET CPU ENDIAN: builds this tree statically for another
# machine in $folder/build, with the libraries that scripts/deps.sh installs here, from packages
# in $folder/sysroot. Returns 1 if the libraries cannot be fetched, 2 if the build fails.
cross_build()
{
	local deb lib=usr/lib/$2 sysroot=$folder/sysroot
	if [ ! -f "$sysroot/complete" ]; then
		rm -rf "$sysroot" "$folder/debs"
		mkdir -p "$sysroot"
		fetch_packages "$1" libelf-dev libdw-dev libzstd-dev libxxhash-dev \
			libiberty-dev liblzma-dev zlib1g-dev libbz2-dev || return 1
		for deb in "$folder"/debs/*.deb; do
			dpkg-deb -x "$deb" "$sysroot" || return 1
		done
		rm -rf "$folder/debs"
		: >"$sysroot/complete"
	fi
	cat >"$folder/cross" <<END
[binaries]
c = ['$2-gcc', '-B$sysroot/$lib']
ar = '$2-gcc-ar'
pkgconfig = 'pkg-config'
exe_wrapper = 'qemu-$3'

[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$sysroot/$lib/pkgconfig'

[built-in options]
c_args = ['-isystem', '$sysroot/usr/include', '-isystem', '$sysroot/usr/include/$2']
c_link_args = ['-static', '-L$sysroot/$lib']

[host_machine]
system = 'linux'
cpu_family = '$3'
cpu = '$3'
endian = '$4'
END
	[ -f "$folder/build/build.ninja" ] ||
		meson setup "$folder/build" --cross-file "$folder/cross" -Dprefer_static=true \
			-Dtests=false || return 2
	meson compile -C "$folder/build" oprofile:executable || return 2
}
