#!/usr/bin/env python3
"""Counts the instructions that an operation of a kernel costs the host, and where they go.

usage: instructions.py BUILD_FOLDER [KEY...]     KEY: a measure of kernwave_bench (--json names them)

Each loop runs twice under callgrind, of two lengths; the difference is what the operations cost. The counts are the
same every time, on a busy machine too. Needs valgrind.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

KEYS = ["bare_at_ns", "operation_ns_1pe", "stall_on_use_operation_ns_1pe", "composite_operation_ns_1pe"]
LENGTHS = (40_000, 80_000)

# A function belongs to the first part whose pattern is in its name.
PARTS = [
    ("SystemC and TLM library", r"sc_core|sc_dt|tlm_utils|libsystemc|^tlm::"),
    ("language and kernel", r"kernwave::(tl|kernels)::"),
    ("CPU", r"PeCpu|CommandPool"),
    ("ports", r"InitiatorPort|TargetPort"),
    ("scheduler", r"PeScheduler|CompositeSequencer|composite_parts"),
    ("GEMM and MATH", r"ComputeEngine|PeGemm|PeMath|math_cycles|gemm_cycles|flops_of"),
    ("DMA", r"DmaChannel|MemoryRequest"),
    ("HBM", r"Hbm|ChannelMap"),
]
REST = "the rest"


def profile(bench: pathlib.Path, key: str, operations: int, folder: str) -> dict[str, int]:
    """Instructions by function."""
    out = pathlib.Path(folder) / f"{key}.{operations}"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", bench, "--loop", key,
                    str(operations)], check=True, capture_output=True)
    text = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", out], check=True,
                          capture_output=True, text=True).stdout
    counts: dict[str, int] = {}
    for count, name in re.findall(r"^ *([\d,]+) +\S*?:(\S.*)$", text, re.MULTILINE):
        counts[name] = counts.get(name, 0) + int(count.replace(",", ""))
    return counts


def part_of(function: str) -> str:
    return next((part for part, pattern in PARTS if re.search(pattern, function)), REST)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bench = pathlib.Path(sys.argv[1]) / "bin" / "kernwave_bench"
    for key in sys.argv[2:] or KEYS:
        with tempfile.TemporaryDirectory() as folder:
            short, long = (profile(bench, key, length, folder) for length in LENGTHS)
        parts: dict[str, float] = {}
        for function in short.keys() | long.keys():
            more = (long.get(function, 0) - short.get(function, 0)) / (LENGTHS[1] - LENGTHS[0])
            parts[part_of(function)] = parts.get(part_of(function), 0.0) + more
        print(f"{key.replace('_ns', '')}: {sum(parts.values()):.0f} instructions")
        for part, count in sorted(parts.items(), key=lambda entry: -entry[1]):
            if round(count) > 0:
                print(f"  {part:<26}{count:6.0f}")


if __name__ == "__main__":
    main()
