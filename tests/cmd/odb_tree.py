# SPDX-License-Identifier: GPL-2.0-or-later
"""odb_tree.py: writes sessions as OProfile's daemon wrote them, for a test.

The layout is written here a second time, from docs/oprofile-trees.md.
  tree = Tree(directory, wide=True, big=False, version=0x13)
  tree.put("{root}/app/{dep}/{root}/lib/EVENT.1000.0.all.all.all", {offset: count}, mtime=...)
  tree.abi()
"""
import os
import struct


class Tree:
    def __init__(self, folder, wide=True, big=False, version=0x13):
        self.folder, self.wide, self.big, self.version = folder, wide, big, version

    def put(self, path, nodes, **header):
        full = os.path.join(self.folder, "samples/current", path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(self.sample_file(nodes, **header))

    def sample_file(self, nodes, cpu_type=69, event=0x76, um=0, count=1000, kernel=0, mhz=2000.5,
                    mtime=0, to_kernel=0, anon=0, to_anon=0):
        order = ">" if self.big else "<"
        gap = "4x" if self.wide else ""
        fields = [b"DAE\n", self.version, cpu_type, event, um, count, kernel, mhz, mtime, to_kernel]
        if self.version == 0x12:
            form = order + "4s6I" + gap + "dQIIQQQI" + gap
            fields += [0, 0, anon, to_anon, 0]
        else:
            form = order + "4s6I" + gap + "dQI" + gap + "QQ"
            fields += [anon, to_anon]
        size = 128
        while size < len(nodes) + 1:
            size *= 2
        out = struct.pack(form, *fields) + struct.pack(order + "II24x", size, len(nodes) + 1)
        heads = [0] * size
        table = [(0, 0, 0)]
        for key, value in nodes.items():
            t = (key >> 32 ^ key) & 0xffffffff
            slot = (t ^ t >> 8) & size - 1
            table.append((key, value, heads[slot]))
            heads[slot] = len(table) - 1
        table += [(0, 0, 0)] * (size - len(table))
        out += b"".join(struct.pack(order + "QII", *node) for node in table)
        return out + struct.pack(order + "%dI" % size, *heads)

    def abi(self):
        """Writes the abi file; only for version 0x13 on 64-bit machines."""
        assert self.wide and self.version == 0x13
        sizes = dict(double=8, u64=8, u8=1, u32=4, int=4, unsigned_int=4, odb_key_t=8,
                     odb_index_t=4, odb_value_t=4, odb_node_nr_t=4, odb_descr_t=32, odb_node_t=16,
                     struct_opd_header=72)
        offsets = dict(node_key=0, node_value=8, node_next=12, descr_size=0, descr_current_size=4,
                       header_magic=0, header_version=4, header_cpu_type=8, header_ctr_event=12,
                       header_ctr_um=16, header_ctr_count=20, header_is_kernel=24,
                       header_cpu_speed=32, header_mtime=40, header_cg_to_is_kernel=48,
                       header_anon_start=56, header_cg_to_anon_start=64)
        with open(os.path.join(self.folder, "abi"), "w", encoding="ascii") as f:
            for name, value in sizes.items():
                f.write("sizeof_%s %d\n" % (name, value))
            for name, value in offsets.items():
                f.write("offsetof_%s %d\n" % (name, value))
            f.write("little_endian %d\n" % (not self.big))
