"""What a run of ci/mutate prints, and how it ends."""

import time
from collections import Counter

SKIPPED = ("same code", "does not compile")


def share(killed, of):
    return f"{killed}/{of} {100 * killed / of:5.1f} %" if of else "-"


class Report:
    def __init__(self, order, most, listed, start):
        self.order, self.most, self.listed, self.start = order, min(most, len(order)), listed, start
        self.outcomes = []
        self.finished = False  # whether nothing is left to judge

    def add(self, outcome):
        self.outcomes.append(outcome)

    def readiness(self, stages):
        return f"control passed in {stages} stages, at most {self.most} mutants to judge, {self.seconds()} s"

    def seconds(self):
        return f"{time.monotonic() - self.start:.0f}"

    def progress(self):
        """What to print now: where the run is, after every twentieth mutant."""
        done = self.done()
        if done == 0 or done % 20 or self.outcomes[-1].kind in SKIPPED:
            return ""
        return (f"{done} judged of at most {self.most}, {len(self.outcomes) - done} skipped, {len(self.of('survived'))} "
                f"survived, score {self.score()}, {self.seconds()} s")

    def done(self):
        return sum(o.kind not in SKIPPED for o in self.outcomes)

    def story(self, outcome):
        """What an outcome that asks for something asks for, with its mutant as a diff; nothing for the others."""
        mutant, entry = outcome.mutant, self.listed.get(outcome.mutant)
        what = f"{mutant.operator} in {mutant.function or 'a constant'}\n{mutant.diff()}\n"
        if outcome.kind == "undecided":
            return f"undecided, {outcome.by}: {what}"
        if outcome.kind == "survived" and not entry:
            return f"survived: {what}"
        if outcome.kind == "killed" and entry:
            return f"listed as equivalent, {entry.title()}, and killed by {outcome.by}: {what}"
        return ""

    def of(self, *kinds):
        """The outcomes of these kinds, those of listed mutants left out."""
        return [o for o in self.outcomes if o.kind in kinds and o.mutant not in self.listed]

    def killed_equivalents(self):
        return [o for o in self.outcomes if o.kind == "killed" and o.mutant in self.listed]

    def table(self, title, key):
        judged, killed = Counter(map(key, self.of("killed", "survived"))), Counter(map(key, self.of("killed")))
        return [f"{title:20} killed"] + [f"{name:20} {share(killed[name], judged[name])}" for name in sorted(judged)]

    def survivors(self):
        return [f"{o.mutant.stage}: {o.mutant.operator} in {o.mutant.function or 'a constant'}: "
                f"{' / '.join(o.mutant.change()[1]) or '(nothing)'}" for o in sorted(self.of("survived"))]

    def text(self):
        lines = self.table("stage", lambda o: o.mutant.stage) + [""] + self.table("operator", lambda o: o.mutant.operator)
        lines += ["", f"{'killed by':20} mutants"]
        lines += [f"{name:20} {count}" for name, count in Counter(o.by for o in self.of("killed")).most_common()]
        lines += ["", "survived"] + self.survivors() if self.survivors() else []
        return "\n".join(lines + ["", self.summary()])

    def score(self):
        return share(len(self.of("killed")), len(self.of("killed", "survived")))

    def summary(self):
        kinds = Counter(o.kind for o in self.outcomes)
        equivalent = sum(o.kind == "survived" and o.mutant in self.listed for o in self.outcomes)
        ending = "" if self.finished else f"NOT FINISHED, {self.done()} judged of at most {self.most}: "
        return (f"{ending}{self.score()} of the mutants are killed; {kinds['same code']} have the same machine code, "
                f"{kinds['does not compile']} do not compile, {equivalent} survive as proven; "
                f"{self.seconds()} s")

    def exit_code(self, least):
        killed, judged = len(self.of("killed")), len(self.of("killed", "survived"))
        if self.killed_equivalents():
            return 2
        if not self.finished:
            return 3
        if self.of("undecided"):
            return 4
        if judged == 0:
            return 77
        return 0 if 100 * killed >= least * judged else 1

    def json(self):
        return {"finished": self.finished, "killed": len(self.of("killed")), "judged": len(self.of("killed", "survived")),
                "mutants": [{"stage": o.mutant.stage, "operator": o.mutant.operator, "function": o.mutant.function,
                             "change": o.mutant.change(), "outcome": o.kind, "by": o.by, "cases": o.cases,
                             "equivalent": o.mutant in self.listed} for o in self.outcomes]}
