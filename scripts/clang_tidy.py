#!/usr/bin/env python3
"""Runs clang-tidy over the source files of a build folder, skipping those that were clean before and have not changed.

usage: clang_tidy.py BUILD_FOLDER [JOBS]

Source files that the build compiles together are diagnosed together, so that the headers they share are parsed once; but
in the opposite order, so that a file that leaves an include to the one before it is found here. They have changed when
the text of one, a header it includes, its compiler flags, .clang-tidy or clang-tidy itself has. What they include is
what Ninja noted when it compiled them, so the folder must have been built. The build's precompiled headers are left out,
which hold headers of ours. Those of others that take long are parsed once.
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


class Unit:
    """Source files that are compiled together, and how."""

    def __init__(self, entry):
        self.folder = pathlib.Path(entry["directory"])
        file = (self.folder / entry["file"]).resolve()
        arguments = shlex.split(entry["command"])
        self.output = arguments[arguments.index("-o") + 1]
        self.options = options_that_matter(arguments[1 : arguments.index("-o")])
        self.sources = [file]
        if re.fullmatch(r"unity_\d+_cxx\.cxx", file.name):
            included = re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE)
            self.sources = [pathlib.Path(source) for source in reversed(included)]


def options_that_matter(options):
    """The compiler's options without the precompiled header and the level of optimisation, which changes nothing here."""
    kept = []
    rest = iter(options)
    for option in rest:
        if option == "-include":
            file = next(rest)
            if "cmake_pch" not in file:
                kept += [option, file]
        elif option not in ("-Winvalid-pch", "-MD", "-fPIC") and not option.startswith("-O"):
            kept.append(option)
    return kept


def read_units(build):
    entries = json.loads((build / "compile_commands.json").read_text())
    return [Unit(entry) for entry in entries if "cmake_pch" not in pathlib.Path(entry["file"]).name]


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
    """Names the state of a unit and of everything that its diagnosis depends on."""

    def __init__(self, tidy):
        version = subprocess.run([tidy, "--version"], check=True, capture_output=True, text=True).stdout
        self.common = version + SLOW_HEADERS
        self.states = {}

    def of(self, unit, configuration, dependencies):
        files = sorted(file for file in dependencies if file.suffix in (".h", ".cpp", "") and "cmake_pch" not in file.name)
        names = [configuration, *unit.options, *map(str, unit.sources)]
        text = "\n".join([self.common, *names, *(self._state(file) for file in files)])
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


class Diagnosis:
    """clang-tidy over the units of a build, with files of its own in a folder."""

    def __init__(self, tidy, folder):
        self.tidy = tidy
        self.folder = folder
        self.precompiled = folder / "slow_headers.pch"
        self.configurations = {}

    def configuration_of(self, unit):
        """The text of the .clang-tidy files that hold for the unit's sources."""
        folder = unit.sources[0].parent
        if folder not in self.configurations:
            # Of sources that are included, here alone it is meant.
            command = [self.tidy, "--checks=-bugprone-suspicious-include", "--dump-config", unit.sources[0], "--"]
            self.configurations[folder] = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return self.configurations[folder]

    def precompile_slow_headers(self, units):
        header = self.folder / "slow_headers.h"
        header.write_text(SLOW_HEADERS)
        every_option = dict.fromkeys(option for unit in units for option in unit.options)
        options = [option for option in every_option if option.startswith(("-D", "-std"))]
        compiler = f"clang++-{TOOL_VERSION}"
        subprocess.run([compiler, *options, "-x", "c++-header", header, "-o", self.precompiled], check=True)

    def of(self, unit, name):
        """What clang-tidy finds, or an empty text."""
        configuration = self.folder / f"{name}.config"
        configuration.write_text(self.configuration_of(unit))
        file = self.folder / f"{name}.cpp"
        file.write_text("".join(f'#include "{source}"\n' for source in unit.sources))
        command = [self.tidy, "--quiet", f"--config-file={configuration}", file, "--", *unit.options]
        command += ["-include-pch", str(self.precompiled)]
        result = subprocess.run(command, cwd=unit.folder, capture_output=True, text=True)
        configuration.unlink()
        file.unlink()
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

    units = read_units(build)
    dependencies = read_dependencies(build)
    unbuilt = [str(unit.sources[0]) for unit in units if unit.output not in dependencies]
    if unbuilt:
        sys.exit("not built yet, so what they include is unknown: " + ", ".join(unbuilt))

    folder = build / "clang-tidy"
    clean = folder / "clean"
    clean.mkdir(parents=True, exist_ok=True)
    diagnosis = Diagnosis(tidy, folder)
    fingerprints = Fingerprints(tidy)
    current = {
        fingerprints.of(unit, diagnosis.configuration_of(unit), dependencies[unit.output]): unit for unit in units
    }
    for stamp in clean.iterdir():
        if stamp.name not in current:
            stamp.unlink()
    changed = {name: unit for name, unit in current.items() if not (clean / name).exists()}
    sources = sum(len(unit.sources) for unit in units)
    print(f"{sources} source files, {sum(len(unit.sources) for unit in changed.values())} to look at", flush=True)
    if changed:
        diagnosis.precompile_slow_headers(units)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, findings in zip(changed, pool.map(lambda name: diagnosis.of(changed[name], name), changed)):
            if findings:
                failed += 1
                print(findings, flush=True)
            else:
                (clean / name).touch()
    if failed:
        sys.exit("clang-tidy objects to some of them")


if __name__ == "__main__":
    main()
