#!/usr/bin/env python3
"""Plants the bugs listed in tests/mutations/*.toml one at a time and says which test finds each.

usage: mutations.py [--likely] [--not-run] BUILD_FOLDER [NAME...]
                                  plants those (all of them; NAME may hold *), and notes the findings in
                                  tests/mutations/results.md and their sum in docs/testing.md; --not-run: only those of
                                  which results.md says so; --likely: runs no other tests than the likely ones, and
                                  notes no bug that these do not find
       mutations.py --check-only  says whether every bug can still be planted and has its row
       mutations.py --rows        gives every bug its row, and plants nothing

Nothing is planted in the tree itself: commands run on a copy of it and of the build folder, which they see at the
tree's own path (a mount namespace of their own), so that no more is compiled than the planted file. BUILD_FOLDER must
lie in the tree and be built. Configured with -DKERNWAVE_MUTATIONS=ON it compiles each file that a bug is planted in on
its own, which is quicker from then on.

For each bug the tests that are likely to find it run first; if those pass, the tests of the folder of its file, then
all the others. The first failure ends them; a test that fails without a bug too is left out.
"""

import contextlib
import dataclasses
import fnmatch
import json
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
RESULTS = LISTS / "results.md"
DOCUMENT = ROOT / "docs" / "testing.md"
SUM = re.compile(r"(<!-- mutations -->\n)(.*?)(<!-- /mutations -->\n)", re.DOTALL)

# A command that has printed nothing for so long hangs, however busy the machine is: a test ends its own simulations
# much earlier.
SILENT_SECONDS = 900


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
        self.printed = 0
        self.printed_at = time.monotonic()
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

    def is_silent(self):
        printed = os.fstat(self.output.fileno()).st_size
        if printed != self.printed:
            self.printed = printed
            self.printed_at = time.monotonic()
        return time.monotonic() - self.printed_at > SILENT_SECONDS

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
        if complaint := self.make():
            sys.exit(f"the tree does not compile:\n{complaint}")
        self.without_a_bug = self.build / "bin_without_a_bug"
        shutil.copytree(self.folder / self.build / "bin", self.folder / self.without_a_bug, symlinks=True)

    def make(self):
        """Builds the regression; returns the compiler's words if it fails."""
        with contextlib.closing(Commands(self)) as commands:
            commands.start(["ninja", "-C", self.build, "kernwave_regression"])
            failed, silent = commands.wait()
            return failed.text() if failed else "the build does not end" if silent else ""

    def first_failure(self, filters):
        """The first test that fails, of the tests of each filter side by side, or an empty text."""
        with contextlib.closing(Commands(self)) as commands:
            for tests in filters:
                left_out = ":".join(self.unreliable)
                commands.start([self.regression, "--gtest_fail_fast", f"--gtest_filter={tests}-{left_out}"])
            failed, silent = commands.wait()
            if any("Running 0 tests" in run.text() for run in commands.runs):
                sys.exit(f"there is no test called {' or '.join(filters)}")
            if failed:
                return failing_test(failed.text())
            return f"{failing_test(silent.text())} (without an end)" if silent else ""

    def fails_without_a_bug(self, test):
        with contextlib.closing(Commands(self)) as commands:
            commands.start([self.without_a_bug / self.regression.name, f"--gtest_filter={test}"])
            return commands.wait() != (None, None)

    def tests_by_nearness(self, folder):
        """Filters of the tests of that folder, and of all the others, each a list of one filter for each core. Not
        GoogleTest's shards: its variables would reach what the tests start."""
        listing = self.build / "mutations_tests.json"
        with contextlib.closing(Commands(self)) as commands:
            commands.start([self.regression, "--gtest_list_tests", f"--gtest_output=json:{listing}"])
            commands.wait()
        near, far = [], []
        for suite in json.loads((self.folder / listing).read_text())["testsuites"]:
            for test in suite["testsuite"]:
                is_near = f"/tests/{folder}/" in f"/{test['file']}"
                (near if is_near else far).append(f"{suite['name']}.{test['name']}")
        cores = os.cpu_count()
        return [[":".join(tests[core::cores]) for core in range(cores) if tests[core::cores]] for tests in (near, far)]


class Commands:
    """Commands that run side by side until all have ended, one has failed, or one has fallen silent."""

    def __init__(self, copy):
        self.copy = copy
        self.runs = []

    def start(self, arguments):
        self.runs.append(Run(self.copy.folder, arguments))

    def wait(self):
        """One that failed, or one that has fallen silent, or neither."""
        while True:
            codes = [run.process.poll() for run in self.runs]
            for run, code in zip(self.runs, codes):
                if code not in (None, 0):
                    return run, None
                if code is None and run.is_silent():
                    return None, run
            if None not in codes:
                return None, None
            time.sleep(0.1)

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


class Results:
    """The findings as results.md has them, one row a mutation of the lists, and their sum in docs/testing.md."""

    NOT_RUN = Finding("not run", "")
    HEAD = """# Bugs planted on purpose

Written by `scripts/mutations.py` ([how](../../docs/testing.md#mutations)). `found by` is the first test that failed,
`s` how many seconds building and running took then, `not run` that nobody has planted that one yet.

| planted bug | in | what is wrong | found by | s |
|---|---|---|---|---|
"""

    def __init__(self, mutations):
        self.mutations = mutations

    def findings(self):
        findings = {}
        for row in RESULTS.read_text().splitlines() if RESULTS.exists() else []:
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            if len(cells) == 5:
                findings[cells[0]] = Finding(cells[3].strip("`"), cells[4])
        return {each.name: findings.get(each.name, self.NOT_RUN) for each in self.mutations}

    def note(self, mutation, finding):
        findings = self.findings()  # anew: somebody may have edited it meanwhile
        findings[mutation.name] = finding
        self.write(findings)

    def write(self, findings):
        RESULTS.write_text(self._text(findings))
        DOCUMENT.write_text(self._document(findings))

    def mistakes(self):
        """What is not as it would be written, a line each."""
        findings = self.findings()
        mistakes = []
        if not RESULTS.exists() or RESULTS.read_text() != self._text(findings):
            mistakes.append(f"{RESULTS.relative_to(ROOT)} is not in step with the lists: mutations.py --rows")
        if DOCUMENT.read_text() != self._document(findings):
            mistakes.append(f"{DOCUMENT.relative_to(ROOT)} is not in step with the results: mutations.py --rows")
        return mistakes

    def _text(self, findings):
        return self.HEAD + "".join(self._row(each, findings[each.name]) for each in self.mutations)

    def _document(self, findings):
        not_run = sum(finding.found_by == "not run" for finding in findings.values())
        missed = [each for each in self.mutations if findings[each.name].found_by.startswith("nothing")]
        found = len(findings) - not_run - len(missed)
        explained = sum(bool(each.survives) for each in missed)
        text = f"{len(findings)} bugs: {found} found, {len(missed)} not found ({explained} of them cannot be), {not_run} not run.\n"
        return SUM.sub(lambda match: match[1] + text + match[3], DOCUMENT.read_text())

    @staticmethod
    def _row(mutation, finding):
        found_by = f"`{finding.found_by}`"
        if finding.found_by == "not run":
            found_by = "not run"
        elif finding.found_by.startswith("nothing"):
            found_by = f"nothing: {mutation.survives}" if mutation.survives else "nothing"
        return f"| {mutation.name} | `{mutation.file}` | {mutation.bug} | {found_by} | {finding.seconds} |\n"


class DoesNotCompile(Exception):
    """A mistake of the list: a bug must compile, and without warnings if those are errors."""


@contextlib.contextmanager
def planted(copy, mutation):
    path = copy.folder / mutation.file
    original = path.read_text()
    path.write_text(mutation.planted(original))
    try:
        if complaint := copy.make():
            raise DoesNotCompile(complaint)
        yield
    finally:
        path.write_text(original)


def failure_with(copy, mutation, likely_only):
    """The first test that fails with the bug, or an empty text."""
    with planted(copy, mutation):
        if test := copy.first_failure([mutation.tests]):
            return test
        if likely_only:
            return ""
        for filters in copy.tests_by_nearness(nearest_tests(mutation.file)):
            if test := copy.first_failure(filters):
                return test
    return ""


def nearest_tests(file):
    """The folder of tests/ that a source file has its tests in."""
    first, second, *_ = pathlib.PurePath(file).parts
    return "tl" if (first, second) == ("kernels", "tl") else first


def examine(copy, mutation, likely_only):
    """The test that finds the bug, or an empty text."""
    while True:
        test = failure_with(copy, mutation, likely_only)
        if not test or not copy.fails_without_a_bug(test.split()[0]):
            return test
        print(f"left out, since it fails without a bug too: {test}", flush=True)
        copy.unreliable.append(test.split()[0])


def examine_all(copy, mutations, results, likely_only):
    """Returns whether every bug was found that can be."""
    missed = []
    for mutation in mutations:
        start = time.monotonic()
        try:
            test = examine(copy, mutation, likely_only)
        except DoesNotCompile as complaint:
            print(f"{mutation.name} DOES NOT COMPILE\n{complaint}", flush=True)
            missed.append(mutation.name)
            continue
        seconds = f"{time.monotonic() - start:.0f}"
        if test or not likely_only:
            results.note(mutation, Finding(test or "nothing", seconds))
        print(f"{mutation.name}: {test or 'NOTHING FINDS IT'} ({seconds} s)", flush=True)
        if not test and not mutation.survives:
            missed.append(mutation.name)
    print(f"{len(mutations)} planted, {len(mutations) - len(missed)} found or explained", flush=True)
    return not missed


def chosen_of(mutations, patterns, results, only_not_run):
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(mutation.name, pattern) for mutation in mutations):
            sys.exit(f"there is no bug called {pattern}")
    chosen = [each for each in mutations if any(fnmatch.fnmatchcase(each.name, pattern) for pattern in patterns)]
    if only_not_run:
        findings = results.findings()
        chosen = [each for each in chosen if findings[each.name] == results.NOT_RUN]
    return chosen


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit(__doc__)
    mutations = read_lists()
    results = Results(mutations)
    if mistakes := mistakes_of(mutations):
        sys.exit("\n".join(mistakes))
    if arguments == ["--rows"]:
        return results.write(results.findings())
    if mistakes := results.mistakes():
        sys.exit("\n".join(mistakes))
    if arguments == ["--check-only"]:
        return print(f"{len(mutations)} bugs can be planted")
    options = {argument for argument in arguments if argument.startswith("--")}
    folder, *patterns = [argument for argument in arguments if argument not in options]
    if unknown := options - {"--likely", "--not-run"}:
        sys.exit(f"there is no option {' '.join(sorted(unknown))}")
    build = pathlib.Path(folder).resolve()
    if not build.is_relative_to(ROOT) or not (build / "build.ninja").exists():
        sys.exit(f"{build} is no build folder inside {ROOT}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # as Ctrl-C: nothing may be left running
    chosen = chosen_of(mutations, patterns or ["*"], results, "--not-run" in options)
    with tempfile.TemporaryDirectory(prefix="mutations-") as temporary:
        if not examine_all(Copy(temporary, build), chosen, results, "--likely" in options):
            sys.exit(1)


if __name__ == "__main__":
    main()
