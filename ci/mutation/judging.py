"""Judges mutants: compiles each, and lets `assay check` look at it until the first claim fails."""

import json
import shutil
import tempfile
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import product
from pathlib import Path
from typing import NamedTuple, Optional

from mutation.build import Unfit
from mutation.mutants import Mutant, headers_of, users_of


class Outcome(NamedTuple):
    mutant: Mutant
    kind: str  # killed, survived, "does not compile", "same code" or undecided
    by: str = ""  # what killed it, or why it is undecided
    cases: int = 0  # judged by the claim that killed it


class Candidate(NamedTuple):
    mutant: Mutant
    users: list  # the stages left to judge it in
    scratch: Path
    refused: Optional[str]  # what the compiler says
    code: Optional[tuple]  # the first of its stages whose machine code it changes, and that code


class Judging:
    def __init__(self, build, scratch, jobs, seconds):
        self.build, self.scratch, self.seconds = build, Path(scratch), seconds
        self.headers = headers_of(build.stages, build.root / "kernels")
        self.jobs, self.pool = jobs, ThreadPoolExecutor(jobs)
        self.original, self.seen = {}, set()

    def stages_of(self, mutants):
        """The stages in which these are judged."""
        functions = {(mutant.stage, mutant.function): mutant for mutant in mutants}
        return sorted({stage for mutant in functions.values() for stage in self._users_of(mutant)})

    def control(self, stages):
        """Shows that what is judged is the library made here: the kernel as it is passes, and one that launches nothing
        fails. Throws Unfit where it does not."""
        header = self.headers["gemm.h"].text
        nothing = header.replace("return launch(kernel", "return true ? cudaSuccess : launch(kernel")
        if nothing == header:
            raise Unfit("kernels/gemm.h has no `return launch(kernel` any more, which the control replaces")

        def control(stage, as_it_is):
            scratch = self._folder()
            refused = self.build.compile(stage, "gemm.h", header if as_it_is else nothing, scratch)
            if refused:
                raise Unfit(f"{stage} does not compile as it is: {refused}")
            if as_it_is:
                self.original[stage] = self.build.machine_code(stage, scratch)
            code = self.build.check(stage, scratch, scratch / "report.json", self.seconds,
                                    ["--cases", "2", "--claim", "within_bound"])
            wanted = 0 if as_it_is else 1
            if code != wanted:
                raise Unfit(f"control: assay check ended with {code} instead of {wanted} for {stage} "
                            f"{'as it is' if as_it_is else 'with launches that do nothing'}")
            shutil.rmtree(scratch)

        self.build.parse_headers(self.scratch)
        list(self.pool.map(lambda pair: control(*pair), product(stages, (True, False))))

    def judge(self, mutants, most, tell):
        """Judges mutants, taken in this order, up to `most` of those that compile to code of their own, and calls
        tell(outcome) as each is done. Throws Stopped if it was stopped before."""
        upcoming, compiling, judging, taken = deque(mutants), deque(), set(), 0
        while compiling or judging or upcoming and taken < most:
            while upcoming and taken < most and len(compiling) < self.jobs and len(judging) < 2 * self.jobs:
                compiling.append(self.pool.submit(self._compile, upcoming.popleft()))
            wait([*list(compiling)[:1], *judging], return_when=FIRST_COMPLETED)
            for done in [future for future in judging if future.done()]:
                judging.remove(done)
                tell(done.result())
            # In order, so that of two mutants with the same code always the first is judged.
            while compiling and compiling[0].done() and taken < most:
                candidate = compiling.popleft().result()
                kind = self._not_to_be_judged(candidate)
                if kind:
                    shutil.rmtree(candidate.scratch)
                    tell(Outcome(candidate.mutant, kind))
                else:
                    taken += 1
                    judging.add(self.pool.submit(self._judge, candidate))
            if taken == most:
                compiling.clear()

    def stop(self):
        """Ends what is under way; control() and judge() then throw Stopped. May be called from the handler of a signal."""
        self.build.processes.stop()

    def close(self):
        """Waits until nothing is under way any more."""
        self.pool.shutdown(cancel_futures=True)

    def _users_of(self, mutant):
        return users_of(mutant, self.build.stages, self.headers)

    def _folder(self):
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def _compile(self, mutant):
        """Compiles a mutant in its stages, up to the first whose machine code differs from the original's."""
        users, scratch = self._users_of(mutant), self._folder()
        for i, stage in enumerate(users):
            refused = self.build.compile(stage, mutant.stage, mutant.text, scratch)
            if refused:
                return Candidate(mutant, [], scratch, refused, None)
            code = self.build.machine_code(stage, scratch)
            if code != self.original[stage]:
                return Candidate(mutant, users[i:], scratch, None, (stage, code))
        return Candidate(mutant, [], scratch, None, None)

    def _not_to_be_judged(self, candidate):
        if candidate.refused:
            return "does not compile"
        if candidate.code is None or candidate.code in self.seen:
            return "same code"
        self.seen.add(candidate.code)
        return ""

    def _judge(self, candidate):
        mutant = candidate.mutant
        for i, stage in enumerate(candidate.users):
            if i > 0:
                refused = self.build.compile(stage, mutant.stage, mutant.text, candidate.scratch)
                if refused:
                    continue  # one that does not compile everywhere is judged where it does
            report = candidate.scratch / "report.json"
            report.unlink(missing_ok=True)
            code = self.build.check(stage, candidate.scratch, report, self.seconds)
            if code != 0:
                outcome = self._outcome(mutant, code, report)
                shutil.rmtree(candidate.scratch)
                return outcome
        shutil.rmtree(candidate.scratch)
        return Outcome(mutant, "survived")

    def _outcome(self, mutant, code, report):
        if code is None:
            return Outcome(mutant, "killed", "hanging")
        if code not in (1, 2):
            return Outcome(mutant, "undecided", f"assay check ended with {code}")
        results = json.loads(report.read_text())["results"] if report.exists() else []
        failed = [result for result in results if result["status"] == "fails"]
        if not failed:
            return Outcome(mutant, "killed", "refusal")  # the command takes no such variant, or judged too little
        return Outcome(mutant, "killed", failed[0]["claim"], failed[0]["cases"])
