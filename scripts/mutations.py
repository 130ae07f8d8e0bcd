#!/usr/bin/env python3
"""Plants the bugs listed in tests/mutations/*.toml one at a time and says which test finds each.

usage: mutations.py BUILD_FOLDER [NAME...]   plants those (all of them; NAME may hold *), and notes the findings in the
                                             table of docs/testing.md
       mutations.py --check-only             says whether every bug can still be planted

Nothing is planted in the tree itself: commands run on a copy of it and of the build folder, which they see at the
tree's own path (a mount namespace of their own), so that no more is compiled than the planted file. BUILD_FOLDER must
lie in the tree and be built.

For each bug the tests that are likely to find it run first, and all the others only if those pass. In the end the tests
that found something must pass without a bug.
"""

import contextlib
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTS = ROOT / "tests" / "mutations"
DOCUMENT = ROOT / "docs" / "testing.md"
TABLE = re.compile(r"(<!-- mutations -->\n)(.*?)(<!-- /mutations -->\n)", re.DOTALL)

BUILD_SECONDS = 900
LIKELY_TESTS_SECONDS = 300
ALL_TESTS_SECONDS = 1200


@dataclasses.dataclass
class Mutation:
    name: str
    file: str  # relative to the tree
    bug: str  # what is wrong, in a few words
    tests: str  # filter of the tests that should find it
    find: str
    replace: str
    survives: str = ""  # why no test can find it

    def planted(self, text):
        return text.replace(self.find, self.replace)


def read_lists():
    mutations = []
    for path in sorted(LISTS.glob("*.toml")):
        with path.open("rb") as file:
            mutations += [Mutation(**entry) for entry in tomllib.load(file)["mutation"]]
    return mutations


def mistakes_of(mutations):
    """What keeps mutations from being planted, a line each."""
    names = [mutation.name for mutation in mutations]
    mistakes = [f"{name}: the name is given twice" for name in sorted(set(names)) if names.count(name) > 1]
    for mutation in mutations:
        path = ROOT / mutation.file
        if not path.exists():
            mistakes.append(f"{mutation.name}: there is no {mutation.file}")
            continue
        found = path.read_text().count(mutation.find)
        if found != 1:
            mistakes.append(f"{mutation.name}: {mutation.file} holds the text {found} times instead of once")
        if mutation.find == mutation.replace:
            mistakes.append(f"{mutation.name}: changes nothing")
    return mistakes


class Run:
    """A command on the copy, with all that it starts."""

    def __init__(self, copy, arguments):
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        script = 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"'
        self.process = subprocess.Popen(
            [*namespace, "sh", "-c", script, "sh", copy, ROOT, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.output.close()


class Copy:
    """A copy of the tree and of its build folder."""

    def __init__(self, folder, build):
        self.folder = pathlib.Path(folder) / "tree"
        self.build = build.relative_to(ROOT)
        self.regression = self.build / "bin" / "kernwave_regression"
        self.unreliable = []  # tests that failed without a bug
        left_out = [ROOT / name for name in (".git", "build", "out", ".cache")]
        shutil.copytree(
            ROOT,
            self.folder,
            symlinks=True,
            ignore=lambda parent, names: [name for name in names if pathlib.Path(parent, name) in left_out],
        )
        shutil.copytree(build, self.folder / self.build, symlinks=True)

    def make(self):
        """Builds the regression; returns the compiler's words if it fails."""
        with contextlib.closing(Commands(self)) as commands:
            commands.start(["ninja", "-C", self.build, "kernwave_regression"])
            failed, timed_out = commands.wait(BUILD_SECONDS)
            return failed.text() if failed else "the build does not end" if timed_out else ""

    def first_failure(self, filters, seconds):
        """The first test that fails, of the tests of each filter side by side, or an empty text."""
        with contextlib.closing(Commands(self)) as commands:
            for tests in filters:
                left_out = ":".join(self.unreliable)
                commands.start([self.regression, "--gtest_fail_fast", f"--gtest_filter={tests}-{left_out}"])
            failed, timed_out = commands.wait(seconds)
            if failed:
                return failing_test(failed.text())
            return f"{failing_test(timed_out.text())} (without an end)" if timed_out else ""

    def all_tests(self):
        """A filter for each core. Not GoogleTest's shards: its variables would reach what the tests start."""
        with contextlib.closing(Commands(self)) as commands:
            commands.start([self.regression, "--gtest_list_tests"])
            commands.wait(LIKELY_TESTS_SECONDS)
            listing = commands.runs[0].text()
        tests = []
        suite = ""
        for line in listing.splitlines():
            name = line.split("#")[0].strip()
            if line.startswith(" "):
                tests.append(suite + name)
            elif name.endswith("."):
                suite = name
        cores = os.cpu_count()
        return [":".join(tests[core::cores]) for core in range(cores)]


class Commands:
    """Commands that run side by side until all have ended, one has failed, or their time is over."""

    def __init__(self, copy):
        self.copy = copy
        self.runs = []

    def start(self, arguments):
        self.runs.append(Run(self.copy.folder, arguments))

    def wait(self, seconds):
        """One that failed, or one that still runs after that time, or neither."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            codes = [run.process.poll() for run in self.runs]
            for run, code in zip(self.runs, codes):
                if code not in (None, 0):
                    return run, None
            if None not in codes:
                return None, None
            time.sleep(0.1)
        return None, next(run for run in self.runs if run.process.poll() is None)

    def close(self):
        for run in self.runs:
            run.end()


def failing_test(output):
    """Of what GoogleTest printed: the test that failed, or the one that ran when it ended."""
    if failed := re.search(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE):
        return failed[1]
    started = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    if not started:
        sys.exit("the regression does not run:\n" + output)
    return started[-1]


@dataclasses.dataclass
class Finding:
    found_by: str
    seconds: str


class Table:
    """The findings as docs/testing.md has them, one row a mutation of the lists."""

    HEAD = "| planted bug | in | what is wrong | found by | s |\n|---|---|---|---|---|\n"

    def __init__(self, mutations):
        self.mutations = mutations

    def note(self, mutation, finding):
        text = DOCUMENT.read_text()  # anew: somebody may have edited it meanwhile
        findings = self._read(text)
        findings[mutation.name] = finding
        rows = "".join(self._row(each, findings.get(each.name, Finding("not run", ""))) for each in self.mutations)
        DOCUMENT.write_text(TABLE.sub(lambda match: match[1] + self.HEAD + rows + match[3], text))

    @staticmethod
    def _read(text):
        findings = {}
        for row in TABLE.search(text)[2].splitlines():
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            if len(cells) == 5:
                findings[cells[0]] = Finding(cells[3].strip("`"), cells[4])
        return findings

    @staticmethod
    def _row(mutation, finding):
        found_by = f"`{finding.found_by}`"
        if finding.found_by == "not run":
            found_by = "not run"
        elif finding.found_by.startswith("nothing"):
            found_by = f"nothing: {mutation.survives}" if mutation.survives else "nothing"
        return f"| {mutation.name} | `{mutation.file}` | {mutation.bug} | {found_by} | {finding.seconds} |\n"


@contextlib.contextmanager
def planted(copy, mutation):
    path = copy.folder / mutation.file
    original = path.read_text()
    path.write_text(mutation.planted(original))
    try:
        if complaint := copy.make():
            sys.exit(f"{mutation.name} does not compile:\n{complaint}")
        yield
    finally:
        path.write_text(original)


def failure_without_a_bug(copy, tests):
    """Of those tests, one that fails on the tree as it is, for want of time for instance; or an empty text."""
    if complaint := copy.make():
        sys.exit(f"the tree does not compile:\n{complaint}")
    return copy.first_failure([tests], ALL_TESTS_SECONDS)


def examine(copy, mutation):
    """The test that finds the bug, or an empty text."""
    while True:
        with planted(copy, mutation):
            if test := copy.first_failure([mutation.tests], LIKELY_TESTS_SECONDS):
                return test
            test = copy.first_failure(copy.all_tests(), ALL_TESTS_SECONDS)
        if not test or not failure_without_a_bug(copy, test.split()[0]):
            return test
        print(f"left out, since it fails without a bug too: {test}", flush=True)
        copy.unreliable.append(test.split()[0])


def examine_all(copy, mutations, table):
    """Returns whether every bug was found that can be."""
    if complaint := copy.make():
        sys.exit(f"the tree does not compile:\n{complaint}")
    found = {}
    missed = []
    for mutation in mutations:
        start = time.monotonic()
        test = examine(copy, mutation)
        seconds = f"{time.monotonic() - start:.0f}"
        table.note(mutation, Finding(test or "nothing", seconds))
        print(f"{mutation.name}: {test or 'NOTHING FINDS IT'} ({seconds} s)", flush=True)
        if test:
            found[test.split()[0]] = mutation
        elif not mutation.survives:
            missed.append(mutation.name)
    print(f"{len(mutations)} planted, {len(mutations) - len(missed)} found or explained", flush=True)
    if found and (test := failure_without_a_bug(copy, ":".join(found))):
        sys.exit(f"{test}, which found {found[test.split()[0]].name}, fails without a bug too")
    return not missed


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    mutations = read_lists()
    if mistakes := mistakes_of(mutations):
        sys.exit("\n".join(mistakes))
    if sys.argv[1] == "--check-only":
        print(f"{len(mutations)} bugs can be planted")
        return
    build = pathlib.Path(sys.argv[1]).resolve()
    if not build.is_relative_to(ROOT) or not (build / "build.ninja").exists():
        sys.exit(f"{build} is no build folder inside {ROOT}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # as Ctrl-C: nothing may be left running
    patterns = sys.argv[2:] or ["*"]
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(mutation.name, pattern) for mutation in mutations):
            sys.exit(f"there is no bug called {pattern}")
    chosen = [each for each in mutations if any(fnmatch.fnmatchcase(each.name, pattern) for pattern in patterns)]
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        if not examine_all(Copy(folder, build), chosen, Table(mutations)):
            sys.exit(1)


if __name__ == "__main__":
    main()
