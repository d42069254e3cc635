"""What is known of call stacks by how a program was made, against `script -F comm,ip,sym`."""
import sys
from collections import Counter


def read(path):
    """(command, symbols from the innermost on) of each sample."""
    samples, comm, frames = [], None, []
    for line in open(path, errors="replace"):
        if line.startswith(("\t", "    ")) and line.strip() and comm is not None:
            frames.append(line.split(None, 1)[1].strip() if " " in line.strip() else "")
        elif line.strip():
            if comm is not None:
                samples.append((comm, frames))
            comm, frames = line.split()[0], []
    if comm is not None:
        samples.append((comm, frames))
    return samples


def share(what, good, all_of_them, wanted):
    print(f"{what}: {good} of {all_of_them}")
    if not all_of_them or good < wanted * all_of_them:
        sys.exit(f"{what}: fewer than {wanted:.1%}")


def recursion(depth, path):
    """Of workloads/deep: one call in four goes by way of descend_wide()."""
    samples = [f for _, f in read(path) if "bottom" in f]
    wanted = (depth + 1, depth // 4)
    seen = Counter((f.count("descend"), f.count("descend_wide"), f[-1]) for f in samples)
    print("descend, descend_wide, outermost:", seen.most_common(5))
    share("whole", sum(n for (d, w, last), n in seen.items()
                       if (d, w) == wanted and last.startswith("_start")), len(samples), 0.97)


if __name__ == "__main__":
    {"recursion": lambda a: recursion(int(a[0]), a[1])}[sys.argv[1]](sys.argv[2:])
