#!/usr/bin/env python3
"""Runs clang-tidy over the source files of a build folder, skipping those that were clean before and have not changed.

usage: clang_tidy.py BUILD_FOLDER [JOBS]

A file has changed when its text, a header it includes, its compiler flags, .clang-tidy or clang-tidy itself has. What it
includes is what Ninja noted when it compiled it, so the folder must have been built. The build's precompiled headers are
left out, which hold headers of ours: a file that forgets to include one is found here. Those of others that take long
are parsed once.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# One that does not look for mistakes in the system's headers, which is most of the work of older ones.
TOOL_VERSION = "22"

SLOW_HEADERS = """#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <gtest/gtest.h>
"""


def without_precompiled_header(arguments):
    """The compiler's arguments without the precompiled header and the level of optimisation, which changes nothing here."""
    kept = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "-include":
            file = next(rest)
            if "cmake_pch" not in file:
                kept += [argument, file]
        elif argument != "-Winvalid-pch" and not argument.startswith("-O"):
            kept.append(argument)
    return kept


def read_compile_commands(build):
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if "cmake_pch" in file.name:
            continue
        arguments = without_precompiled_header(shlex.split(entry["command"]))
        entry["file"] = str(file)
        entry["command"] = shlex.join(arguments)
        entry["output"] = arguments[arguments.index("-o") + 1]
        commands[file] = entry
    return commands


def options_of(entry):
    arguments = shlex.split(entry["command"])
    return arguments[1 : arguments.index("-o")]


def precompile_slow_headers(commands, database):
    """Makes each command begin with the headers that take long."""
    header = database / "slow_headers.h"
    precompiled = database / "slow_headers.pch"
    header.write_text(SLOW_HEADERS)
    compiler = f"clang++-{TOOL_VERSION}"
    every_option = dict.fromkeys(option for entry in commands.values() for option in options_of(entry))
    options = [option for option in every_option if option.startswith(("-D", "-std"))]
    subprocess.run([compiler, *options, "-x", "c++-header", header, "-o", precompiled], check=True)
    for entry in commands.values():
        first, *rest = shlex.split(entry["command"])
        entry["command"] = shlex.join([first, "-include-pch", str(precompiled), *rest])


def read_dependencies(build):
    """For each object file, as Ninja names it, the files it was compiled from."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    dependencies = {}
    files = set()
    for line in listing.splitlines():
        if match := re.match(r"(\S.*): #deps ", line):
            files = dependencies.setdefault(match[1], set())
        elif line.startswith("    "):
            files.add((build / line.strip()).resolve())
    # What a precompiled header holds is noted there alone.
    precompiled = set().union(*(files for name, files in dependencies.items() if name.endswith((".gch", ".pch"))))
    for files in dependencies.values():
        files |= precompiled
    return dependencies


class Fingerprints:
    """Names the state of a source file and of everything that its diagnosis depends on."""

    def __init__(self, tidy):
        version = subprocess.run([tidy, "--version"], check=True, capture_output=True, text=True).stdout
        self.common = version + SLOW_HEADERS + (ROOT / ".clang-tidy").read_text()
        self.states = {}

    def of(self, entry, dependencies):
        files = sorted(file for file in dependencies if "cmake_pch" not in file.name)
        text = "\n".join([self.common, entry["command"], *(self._state(file) for file in files)])
        return hashlib.sha256(text.encode()).hexdigest()

    def _state(self, file):
        if file not in self.states:
            self.states[file] = f"{file} {self._read(file)}"
        return self.states[file]

    @staticmethod
    def _read(file):
        if not file.exists():
            return "gone"
        if file.is_relative_to(ROOT):
            return hashlib.sha256(file.read_bytes()).hexdigest()
        status = file.stat()  # the system's headers: too many to read
        return f"{status.st_size} {status.st_mtime_ns}"


def diagnose(tidy, database, file):
    """What clang-tidy finds, or an empty text."""
    result = subprocess.run([tidy, "--quiet", "-p", database, file], capture_output=True, text=True)
    if result.returncode == 0:
        return ""
    noise = re.compile(r"^\d+ warnings? (and \d+ errors? )?generated\.$|^Suppressed ")
    lines = [line for line in (result.stdout + result.stderr).splitlines() if not noise.match(line)]
    return "\n".join(lines)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    jobs = int(sys.argv[2]) if len(sys.argv) == 3 else os.cpu_count()
    tidy = shutil.which(f"clang-tidy-{TOOL_VERSION}")
    if not tidy:
        sys.exit(f"clang-tidy-{TOOL_VERSION} is not installed")

    commands = read_compile_commands(build)
    dependencies = read_dependencies(build)
    unbuilt = [str(file) for file, entry in commands.items() if entry["output"] not in dependencies]
    if unbuilt:
        sys.exit("not built yet, so what they include is unknown: " + ", ".join(unbuilt))

    database = build / "clang-tidy"
    clean = database / "clean"
    clean.mkdir(parents=True, exist_ok=True)
    fingerprints = Fingerprints(tidy)
    current = {file: fingerprints.of(entry, dependencies[entry["output"]]) for file, entry in commands.items()}
    for stamp in clean.iterdir():
        if stamp.name not in current.values():
            stamp.unlink()
    changed = sorted(file for file, name in current.items() if not (clean / name).exists())
    print(f"{len(commands)} source files, {len(changed)} of them new or changed", flush=True)
    if changed:
        precompile_slow_headers(commands, database)
        (database / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for file, findings in zip(changed, pool.map(lambda file: diagnose(tidy, database, file), changed)):
            if findings:
                failed += 1
                print(findings, flush=True)
            else:
                (clean / current[file]).touch()
    if failed:
        sys.exit(f"clang-tidy objects to {failed} of {len(commands)} source files")


if __name__ == "__main__":
    main()
