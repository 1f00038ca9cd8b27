"""The lowering of rule sets to scoring programs, for every semantics."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np

from frri.export.program import (
    NO_RULE,
    ONE,
    ZERO,
    Assignment,
    Branch,
    Expr,
    Program,
    Step,
    const,
    place,
)
from frri.rules.condition import Condition, NominalCondition, Side
from frri.rules.inference import ABOVE_HALF, LARGEST_EXPONENT, SLIGHTLY_MORE, last_resort
from frri.rules.rule import Rule
from frri.rules.ruleset import RuleSet

# Terms of one operation: compilers limit the depth of expressions.
BLOCK = 100


def lower(ruleset: RuleSet, block: int = BLOCK) -> Program:
    """Return the scoring program of a rule set.

    What is computed from more rules than a block is computed block by block.
    """
    return _Lowering(ruleset, block).program()


class _Lowering:
    """A program in the making."""

    def __init__(self, ruleset: RuleSet, block: int) -> None:
        self.ruleset, self.block, self.n_classes = ruleset, block, len(ruleset.classes)
        self.attributes = {a.name: a for a in ruleset.attributes}
        self.steps, self.count = list[Step](), 0
        self.shared, self.conditions = dict[Expr, Expr](), dict[Condition, Expr]()

    def program(self) -> Program:
        """Lower columns, conditions, rules, scores, the decision and the probabilities."""
        ruleset, name = self.ruleset, self.ruleset.semantics.name
        self._read_columns()
        self.degrees, self.votes = list[Expr](), list[Expr]()
        for r, rule in enumerate(ruleset, start=1):
            degree, weight = self._degree(r, rule), const(rule.weight)
            self.degrees.append(degree)
            vote = _node("mul", weight, degree)
            self.votes.append(degree if weight == ONE else self._let(f"v{r}", vote))
        decide = {
            "softmax-votes": self._softmax_votes,
            "at-least-class": self._at_least_class,
            "cumulative-logits": self._cumulative_logits,
            "weighted-mean": self._weighted_mean,
            "added-contributions": self._added_contributions,
        }
        found = decide.get(name, self._class_rules)()
        steps, self.steps = tuple(self.steps), []
        probabilities = tuple(self._probabilities(found)) if ruleset.classes else ()
        labels = [Expr("label", (), label) for label in ruleset.classes]
        prediction = _pick(found.decided, labels) if labels else found.score
        outputs = prediction, found.score, found.rule, tuple(found.scores)
        more = tuple(self.degrees), probabilities, self.conditions
        return Program(ruleset, steps, tuple(self.steps), *outputs, *more)

    def _let(self, name: str, value: Expr) -> Expr:
        """Append an assignment and return its name."""
        self.steps.append(Assignment(name, value))
        return Expr("name", (), name, value.kind)

    def _lets(self, prefix: str, values: Iterable[Expr]) -> list[Expr]:
        """Append numbered assignments and return their names."""
        return [self._let(f"{prefix}{k}", value) for k, value in enumerate(values, start=1)]

    def _share(self, prefix: str, value: Expr) -> Expr:
        """Return a name for a value, the same one for an equal value."""
        if value.op in {"name", "const"}:
            return value
        if value not in self.shared:
            self.count += 1
            self.shared[value] = self._let(f"{prefix}{self.count}", value)
        return self.shared[value]

    def _branch(
        self,
        test: Expr,
        holds: Callable[[], Mapping[str, Expr]],
        fails: Callable[[], Mapping[str, Expr]],
    ) -> dict[str, Expr]:
        """Append a branch; what is computed on one side is forgotten after it."""
        outer, shared, sides = self.steps, self.shared, []
        for compute in (holds, fails):
            self.steps, self.shared = [], dict(shared)
            values = compute()
            sides.append((tuple(self.steps), values))
        self.steps, self.shared = outer, shared
        (yes, held), (no, failed) = sides
        results = tuple((name, held[name], failed[name]) for name in held)
        self.steps.append(Branch(test, yes, no, results))
        return {name: Expr("name", (), name, value.kind) for name, value in held.items()}

    def _chain(self, op: str, terms: Sequence[Expr], prefix: str) -> Expr:
        """Return a sum or product from left to right, in blocks that are not too deep."""
        first, *blocks = self._blocks(terms)
        total = _few(op, first)
        for block in blocks:
            total = Expr(op, (self._share(prefix, total), *block))
        return total

    def _blocks(self, values: Sequence[Any]) -> list[Any]:
        return [values[k : k + self.block] for k in range(0, len(values), self.block)]

    def _largest(self, votes: Sequence[Expr]) -> list[Expr]:
        """Return the largest vote of each block, by name if there are several."""
        parts = [_few("max", block) for block in self._blocks(votes)]
        return [self._share("m", part) for part in parts] if len(parts) > 1 else parts

    def _max(self, votes: Sequence[Expr]) -> Expr:
        return _few("max", self._largest(votes))

    def _winner(self, most: Expr, votes: Sequence[Expr], numbers: Sequence[int]) -> Expr:
        """Return the number of the first vote that equals the largest one."""
        parts = self._largest(votes)
        if len(parts) == 1:
            return _pick(_node("index", most, *votes), [*map(place, numbers)])
        blocks = zip(parts, self._blocks(votes), self._blocks(numbers), strict=True)
        winners = [self._share("i", self._winner(*block)) for block in blocks]
        return _pick(_node("index", most, *parts), winners)

    def _first_of(self, tests: Sequence[Expr]) -> Expr:
        """Return the position of the first test that holds; their number if none does."""
        blocks = self._blocks(tests)
        if len(blocks) < 2:
            return _first(tests)
        parts = [self._share("i", _first(block)) for block in blocks]
        sizes = [place(len(block)) for block in blocks]
        found = _first([_compare(part, "<", n) for part, n in zip(parts, sizes, strict=True)])
        starts = range(0, len(tests), self.block)
        places = [_node("add", place(start), at) for start, at in zip(starts, parts, strict=True)]
        return _pick(found, [*places, place(len(tests))])

    # ---------------------------------------------------------------- columns and conditions

    def _read_columns(self) -> None:
        """Assign the columns that rules use, imputed and clipped."""
        ruleset, arrays = self.ruleset, self.ruleset.arrays
        self.values: dict[str, Expr] = {}
        for j, attribute in enumerate(ruleset.attributes):
            if attribute.name not in ruleset.used_attributes:
                continue
            kind = "text" if attribute.kind == "nominal" else "number"
            x = self._let(f"x{j + 1}", Expr("column", (), j, kind))
            value = x
            for end, sign in ((arrays.highs.item(j), ">"), (arrays.lows.item(j), "<")):
                if abs(end) < inf:
                    value = _if(_compare(x, sign, const(end)), const(end), value)
            if not isnan(arrays.typical.item(j)):
                imputed = const(arrays.typical.item(j))
                if attribute.kind == "nominal":
                    imputed = Expr("text", (), str(attribute.typical))
                value = _if(_node("missing", x), imputed, value)
            if value is not x:
                value = self._let(f"y{j + 1}", value)
            self.values[attribute.name] = value

    def _test_missing(self, x: Expr, test: Expr) -> Expr:
        """Return a test that holds for missing values too, where these satisfy all conditions."""
        if self.ruleset.missing == "similar":
            return _node("any", _node("missing", x), test)
        return test

    def _condition(self, condition: Condition) -> Expr:
        """Return a condition's test, or its degree where it has a slope; named once."""
        if condition not in self.conditions:
            x, name = self.values[condition.attribute], f"c{len(self.conditions) + 1}"
            if isinstance(condition, NominalCondition):
                value = self._nominal(condition, x)
            else:
                value = self._trapezoid(condition, x)
            self.conditions[condition] = self._let(name, value)
        return self.conditions[condition]

    def _nominal(self, condition: NominalCondition, x: Expr) -> Expr:
        """Return whether a category is allowed."""
        categories = self.attributes[condition.attribute].categories or ()
        allowed = tuple(c for c in categories if c in condition.values)
        if not condition.excludes:
            return self._test_missing(x, Expr("among", (x,), allowed))
        # Whatever is known and not excluded; `not` has three values in SQL.
        truths = Expr("truth", (), False), Expr("truth", (), True)
        holds = _if(_node("any", _node("missing", x), Expr("among", (x,), allowed)), *truths)
        return self._test_missing(x, holds)

    def _trapezoid(self, condition: Condition, x: Expr) -> Expr:
        """Return tests of crisp bounds, or the degree by slopes where these tests hold.

        1 is neutral and 0 absorbing in every t-norm, so that only slopes are joined. A missing
        value fails every test.
        """
        tests, degree = [], ONE
        for side in condition.sides:
            inside = _compare(x, side.sign, const(side.bound))
            if side.is_crisp:
                tests.append(inside)
                continue
            fading = _node("div", _distance(x, side), const(abs(side.core - side.support)))
            fading = _if(_compare(x, side.sign[0], const(side.support)), fading, ZERO)
            # No value lies on two slopes: outside one core, inside the other.
            degree = _if(inside, degree, fading)
        if degree == ONE:
            known = _if(_node("missing", x), Expr("truth", (), False), Expr("truth", (), True))
            return self._test_missing(x, _all(tests or [known]))
        degree = _if(_all(tests), degree, ZERO) if tests else degree
        if self.ruleset.missing == "similar":
            degree = _if(_node("missing", x), ONE, degree)
        return degree

    def _uncut(self, rule: Rule, condition: Condition) -> Expr:
        """Return 1 in the core of a condition, falling outside, negative beyond the support."""
        outside = const(min(1.0 - 1.0 / rule.weight, 0.0))
        x, holds = self.values[condition.attribute], ONE
        if isinstance(condition, NominalCondition):
            return _if(self._condition(condition), ONE, outside)
        width = self.attributes[condition.attribute].width
        for side in reversed(condition.sides):
            slope = const(width if side.is_crisp else abs(side.core - side.support))
            outside_core = _compare(x, "<" if side.end == "low" else ">", const(side.core))
            holds = _if(outside_core, _node("div", _distance(x, side), slope), holds)
        missing = ONE if self.ruleset.missing == "similar" else outside
        return self._share("u", _if(_node("missing", x), missing, holds))

    # ---------------------------------------------------------------- rules

    def _degree(self, r: int, rule: Rule) -> Expr:
        """Return the degree of a rule: its slopes joined where its tests hold."""
        found = [self._condition(condition) for condition in rule.conditions]
        tests = [c for c in found if c.kind == "truth"]
        slopes = [c for c in found if c.kind != "truth"]
        degree = self._join(slopes)
        degree = _if(_all(tests), degree, ZERO) if tests else degree
        return self._let(f"d{r}", degree)

    def _join(self, degrees: Sequence[Expr]) -> Expr:
        """Join degrees by the t-norm, from left to right."""
        t_norm = self.ruleset.t_norm
        if not degrees:
            return ONE
        if t_norm == "minimum":
            return _few("min", degrees)
        if t_norm == "product":
            return self._chain("mul", degrees, "j")
        return reduce(self._join_two, degrees)

    def _join_two(self, a: Expr, b: Expr) -> Expr:
        t_norm, a = self.ruleset.t_norm, self._share("j", a)
        smaller, larger = _node("min", a, b), _node("max", a, b)
        if t_norm == "lukasiewicz":
            return _node("max", _node("sub", smaller, _node("sub", ONE, larger)), ZERO)
        if t_norm == "drastic":
            return _if(_compare(larger, "==", ONE), smaller, ZERO)
        if t_norm == "nilpotent_minimum":
            return _if(_compare(smaller, ">", _node("sub", ONE, larger)), smaller, ZERO)
        smaller, larger = self._share("j", smaller), self._share("j", larger)
        joined = _node("add", larger, _node("mul", smaller, _node("sub", ONE, larger)))
        divisor = _if(_compare(larger, ">", ZERO), joined, ONE)
        return _node("mul", smaller, _node("div", larger, divisor))

    def _fallback_votes(self) -> list[Expr]:
        """Return what each rule counts where none fires; only inside a branch."""
        vote = {"nearest": self._nearness, "stretched": self._stretched, "partial": self._partial}
        return self._lets("n", map(vote[last_resort(self.ruleset)], self.ruleset))

    def _nearness(self, rule: Rule) -> Expr:
        if not rule.weight > 0.0:
            return const(-inf)
        uncut = [self._uncut(rule, condition) for condition in rule.conditions]
        return _node("mul", const(rule.weight), _few("min", uncut or [ONE]))

    def _memberships(self, rule: Rule) -> list[Expr]:
        found = [self._condition(condition) for condition in rule.conditions]
        return [_if(c, ONE, ZERO) if c.kind == "truth" else c for c in found]

    def _stretched(self, rule: Rule) -> Expr:
        """Return the degree of the longest beginning of a rule that holds, times its weight."""
        if not rule.partial_weights or not rule.conditions:
            return ZERO
        memberships = self._memberships(rule)
        kept = self._share("j", _first([_compare(m, "<=", ZERO) for m in memberships]))
        # 1 is neutral in every t-norm.
        held = [
            _if(_compare(kept, ">", place(k)), membership, ONE)
            for k, membership in enumerate(memberships)
        ]
        weights = [ZERO, *map(const, rule.partial_weights[1 : len(held) + 1])]
        return _node("mul", self._join(held), _pick(kept, weights))

    def _partial(self, rule: Rule) -> Expr:
        """Return the weight of the subset of conditions that hold; 0 where none does."""
        if not rule.partial_weights or not rule.conditions:
            return ZERO
        tests = [_compare(m, ">", ZERO) for m in self._memberships(rule)]
        bits = [_if(test, place(1 << k), place(0)) for k, test in enumerate(tests)]
        weights = [ZERO, *map(const, rule.partial_weights[1:])]
        return _pick(self._chain("add", bits, "j"), weights)

    # ---------------------------------------------------------------- classes

    def _class_rules(self) -> "_Decision":
        """Return the class of the strongest, the added or the first rules, or of the fallback."""
        kind = self.ruleset.combination
        own = self._by_class(self.votes)
        first = NO_RULE
        if kind == "first":
            first = self._first_of([_compare(d, ">", ZERO) for d in self.degrees])
            first = self._let("first", first)
            says = (self.ruleset.arrays.says * self.ruleset.score_factors).T.tolist()
            found = [_pick(first, [*map(const, amounts), ZERO]) for amounts in says]
        elif kind == "sum":
            found = [self._chain("add", votes or [ZERO], "s_") for votes, _ in own]
        else:
            found = [self._max(votes or [ZERO]) for votes, _ in own]
        costs = self.ruleset.score_factors.tolist() if kind != "first" else [1.0] * self.n_classes
        best, scores = [], []
        for c, (value, cost) in enumerate(zip(found, costs, strict=True), start=1):
            best.append(self._let(f"s{c}" if cost == 1.0 else f"b{c}", value))
            scores.append(best[-1])
            if cost != 1.0:
                scores[-1] = self._let(f"s{c}", _node("mul", best[-1], const(cost)))
        top = self._let("top", _few("max", scores))

        def covered() -> dict[str, Expr]:
            decided = self._let("best", _node("index", top, *scores))
            rule = _node("add", first, place(1))
            if kind != "first":
                rule = self._strongest(decided, own, best if kind == "best" else None)
            return {"decided": decided, "rule": rule} | _named("a", scores)

        result = self._branch(_compare(top, ">", ZERO), covered, self._uncovered)
        amounts = [result[f"a{c}"] for c in range(1, self.n_classes + 1)]
        return _Decision(result["decided"], scores, top, amounts, result["rule"])

    def _uncovered(self) -> dict[str, Expr]:
        """Return what the fallback decides: class, rule, and amounts for probabilities."""
        ruleset, kind = self.ruleset, last_resort(self.ruleset)
        priors, costs = ruleset.priors.tolist(), ruleset.score_factors.tolist()
        by_priors = {"decided": place(int(np.argmax(priors))), "rule": NO_RULE}
        by_priors |= _named("a", [*map(const, priors)])
        if kind == "priors":
            return by_priors
        own = self._by_class(self._fallback_votes())
        nothing = const(-inf) if kind == "nearest" else ZERO
        best = self._lets("f", [self._max(votes or [nothing]) for votes, _ in own])
        values = best
        if kind != "nearest":
            pairs = zip(best, costs, strict=True)
            values = [_node("mul", b, const(cost)) if cost != 1.0 else b for b, cost in pairs]
        most = self._let("most", _few("max", values))
        decided = self._let("near", _node("index", most, *values))
        by_votes = {"decided": decided, "rule": self._strongest(decided, own, best)}
        by_votes |= _named("a", values)
        if kind == "nearest":
            return by_votes
        known = _compare(most, ">", ZERO)
        return {name: _if(known, vote, by_priors[name]) for name, vote in by_votes.items()}

    def _by_class(self, votes: Sequence[Expr]) -> list[tuple[list[Expr], list[int]]]:
        """Return the votes and the numbers of the rules of each class."""
        classes = self.ruleset.arrays.classes.tolist()
        own = [[r for r, k in enumerate(classes) if k == c] for c in range(self.n_classes)]
        return [([votes[r] for r in rules], [r + 1 for r in rules]) for rules in own]

    def _strongest(
        self,
        decided: Expr,
        own: list[tuple[list[Expr], list[int]]],
        best: Sequence[Expr] | None = None,
    ) -> Expr:
        """Return the number of the first of the strongest rules of a class; 0 if it has none."""
        most = best or [self._max(votes or [ZERO]) for votes, _ in own]
        rules = [
            self._winner(most[c], votes, numbers) if votes else NO_RULE
            for c, (votes, numbers) in enumerate(own)
        ]
        return _pick(decided, rules)

    def _softmax_votes(self) -> "_Decision":
        """Return the first class with the highest sum of votes."""
        scores = self._sums(self.ruleset.base)
        top = self._let("top", _few("max", scores))
        decided = self._let("decided", _node("index", top, *scores))
        return _Decision(decided, scores, top, scores)

    def _sums(self, starts: Sequence[float], name: str = "s") -> list[Expr]:
        """Return for every start its sum with the votes of rules times their numbers."""
        says, sums = self.ruleset.arrays.says.tolist(), []
        for c, start in enumerate(starts):
            terms = [const(start)]
            for vote, said in zip(self.votes, says, strict=True):
                if said[c]:
                    terms.append(vote if said[c] == 1.0 else _node("mul", vote, const(said[c])))
            sums.append(self._let(f"{name}{c + 1}", self._chain("add", terms, f"{name}_")))
        return sums

    # ---------------------------------------------------------------- ordered classes

    def _cumulative_logits(self) -> "_Decision":
        """Return the logistic functions of one sum with a base for each class but the first."""
        [total] = self._sums([0.0], "total")
        scores = [ONE]
        for t, base in enumerate(self.ruleset.base, start=1):
            odds = _node("sub", ZERO, _node("add", total, const(base)))
            odds = self._let(f"o{t}", _node("min", odds, const(LARGEST_EXPONENT)))
            share = _node("div", ONE, _node("add", ONE, _node("exp", odds)))
            share = self._let(f"l{t}", share)
            # Above one half exactly where the sum is positive: the sign decides, not exp's bits.
            above = _node("max", share, const(ABOVE_HALF))
            below = _node("min", share, const(0.5))
            score = _if(_compare(odds, "<", ZERO), above, below)
            scores.append(self._let(f"s{t + 1}", score))
        return self._steps(scores)

    def _steps(self, scores: list[Expr]) -> "_Decision":
        """Return the last class that has, like all before it, a score above one half."""
        passed = _first([_compare(score, "<=", const(0.5)) for score in scores[1:]])
        decided = self._let("decided", passed)
        after = [*scores[1:], ZERO]
        amounts = [_node("sub", a, b) for a, b in zip(scores, after, strict=True)]
        score = self._let("score", _pick(decided, scores))
        return _Decision(decided, scores, score, amounts)

    def _at_least_class(self) -> "_Decision":
        """Return the fraction of the votes for "at least" each class; see `frri.rules.inference`.

        The largest vote for a class falls from class to class, the largest against it rises: the
        thresholds without any vote are those between the classes `lowest` and `highest`.
        """
        if self.n_classes == 1:
            return self._steps([ONE])
        pro, contra = self._sides(self.votes, ZERO, ("pro", "contra"))
        lowest = self._let("lowest", _first([_compare(p, "<=", ZERO) for p in pro]))
        highest = self._let("highest", _first([_compare(c, ">", ZERO) for c in contra]))
        result = self._branch(
            _compare(lowest, "<", highest),
            lambda: self._fill_thresholds(pro, contra, lowest, highest),
            lambda: _named("for", pro) | _named("against", contra),
        )
        scores = [ONE]
        for t in range(1, self.n_classes):
            votes, against = result[f"for{t}"], result[f"against{t}"]
            positive = _compare(votes, ">", ZERO)
            ratio = _node("div", against, _if(positive, votes, ONE))
            share = _if(positive, _node("div", ONE, _node("add", ONE, ratio)), ZERO)
            scores.append(self._let(f"s{t + 1}", share))
        return self._steps(scores)

    def _sides(
        self, votes: Sequence[Expr], nothing: Expr, names: tuple[str, str]
    ) -> tuple[list[Expr], list[Expr]]:
        """Return per threshold the largest vote for "at least" its class, and against it."""
        arrays, n_classes = self.ruleset.arrays, self.n_classes
        own: dict[tuple[int, bool], list[Expr]] = {}
        rules = zip(votes, arrays.classes.tolist(), arrays.rising.tolist(), strict=True)
        for vote, k, rising in rules:
            own.setdefault((k, rising), []).append(vote)
        pro, contra = [nothing], [nothing]
        for t in range(n_classes - 1, 0, -1):
            largest = self._max([pro[-1], *own.get((t, True), [])])
            pro.append(self._let(f"{names[0]}{t}", largest))
        for t in range(1, n_classes):
            largest = self._max([contra[-1], *own.get((t - 1, False), [])])
            contra.append(self._let(f"{names[1]}{t}", largest))
        return pro[:0:-1], contra[1:]

    def _fill_thresholds(
        self, pro: Sequence[Expr], contra: Sequence[Expr], lowest: Expr, highest: Expr
    ) -> dict[str, Expr]:
        """Decide thresholds without a vote by the nearest rules, or by the priors."""
        before = [0.0, *np.cumsum(self.ruleset.class_counts).tolist()]
        alike = [const(number) for number in range(self.n_classes + 1)]
        below = self._let("below", _pick(lowest, [*map(const, before[:-1])]))
        up_to = self._let("up_to", _pick(highest, [*map(const, before[1:])]))
        # Classes without any prior have equal ones.
        possible = self._let("possible", _compare(up_to, ">", below))
        below = self._let("from_size", _if(possible, below, _pick(lowest, alike[:-1])))
        up_to = self._let("to_size", _if(possible, up_to, _pick(highest, alike[1:])))
        near, opposed = list[Expr](), list[Expr]()
        if last_resort(self.ruleset) == "nearest":
            near, opposed = self._sides(self._fallback_votes(), const(-inf), ("near", "opposed"))
        votes, against = [], []
        for t in range(1, self.n_classes):
            here = _if(possible, const(before[t]), const(t))
            asked = _node("all", _compare(lowest, "<", place(t)), _compare(highest, ">=", place(t)))
            one, other = _node("sub", up_to, here), _node("sub", here, below)
            if near:
                closest, farther = near[t - 1], opposed[t - 1]
                known = _compare(_node("max", closest, farther), ">", const(-inf))
                one = _if(known, _node("max", _node("sub", ZERO, farther), ZERO), one)
                other = _if(known, _node("max", _node("sub", ZERO, closest), ZERO), other)
            votes.append(_if(asked, one, pro[t - 1]))
            against.append(_if(asked, other, contra[t - 1]))
        return _named("for", votes) | _named("against", against)

    # ---------------------------------------------------------------- numbers

    def _added_contributions(self) -> "_Decision":
        [number] = self._sums(self.ruleset.base)
        return _Decision(NO_RULE, [number], number)

    def _weighted_mean(self) -> "_Decision":
        """Return the weighted mean of the rules; where none fires, the nearest rule or the base."""
        total = self._let("total", self._chain("add", [ZERO, *self.votes], "t_"))
        [said] = self._sums([0.0], "sum")

        def uncovered() -> dict[str, Expr]:
            if last_resort(self.ruleset) == "base":
                return {"number": const(self.ruleset.base[0]), "rule": NO_RULE}
            votes = self._fallback_votes()
            nearest = self._winner(self._max(votes), votes, range(len(votes)))
            nearest = self._let("nearest", nearest)
            numbers = [const(said) for [said] in self.ruleset.arrays.says.tolist()]
            return {"number": _pick(nearest, numbers), "rule": _node("add", nearest, place(1))}

        result = self._branch(
            _compare(total, ">", ZERO),
            lambda: {"number": _node("div", said, total), "rule": NO_RULE},
            uncovered,
        )
        number = result["number"]
        return _Decision(NO_RULE, [number], number, rule=result["rule"])

    # ---------------------------------------------------------------- probabilities

    def _probabilities(self, found: "_Decision") -> Iterator[Expr]:
        """Yield the class probabilities; the predicted class has the largest one."""
        ruleset, link = self.ruleset, self.ruleset.semantics.meaning.link
        amounts = [self._share("q", amount) for amount in found.amounts]
        nearest = link == "shares" and last_resort(ruleset) == "nearest"
        if link == "softmax" or nearest:
            largest, same = self._let("largest", _few("max", amounts)), _named("e", amounts)
            powers = [
                _if(_compare(a, "==", largest), ONE, _node("exp", _node("sub", a, largest)))
                for a in amounts
            ]
            amounts = self._lets("e", powers) if not nearest else [*self._branch(
                _compare(found.score, ">", ZERO), lambda: same, lambda: _named("e", powers)
            ).values()]  # fmt: skip
        whole = self._let("whole", self._chain("add", amounts, "w_"))
        shares = self._lets("h", (_node("div", amount, whole) for amount in amounts))
        if ruleset.trust < 1.0 or link == "steps":
            shares = self._shrink(shares, found.decided)
        # Rounding may leave the predicted class behind or level.
        most = self._let("highest_share", _few("max", shares))
        leads = _compare(_node("index", most, *shares), "==", found.decided)
        above = _node("mul", most, const(SLIGHTLY_MORE))
        raised = self._let("raised", _if(leads, most, above))
        for c, share in enumerate(shares):
            own = _compare(found.decided, "==", place(c))
            yield self._let(f"p{c + 1}", _if(own, raised, share))

    def _shrink(self, shares: Sequence[Expr], decided: Expr) -> list[Expr]:
        """Mix with the priors, and level classes that are ahead of the predicted one with it.

        The level is the largest mean of the predicted class and all classes from one of those ahead
        upwards.
        """
        trust, priors = self.ruleset.trust, self.ruleset.priors
        sizes = priors / priors.sum()
        mixed = list(shares)
        if trust < 1.0:
            rests = [const((1.0 - trust) * size) for size in sizes.tolist()]
            parts = [_node("mul", const(trust), share) for share in shares]
            mixed = self._lets("mixed", map(_node, ["add"] * len(parts), parts, rests))
        share = self._let("own", _pick(decided, mixed))
        ahead = [_if(_compare(value, ">", share), value, ZERO) for value in mixed]
        ahead = self._lets("ahead", ahead)
        means = [share]
        for value in ahead:
            above = [_compare(other, ">=", value) for other in ahead]
            sums = [_if(test, other, ZERO) for test, other in zip(above, ahead, strict=True)]
            total = self._chain("add", [share, *sums], "m_")
            count = self._chain("add", [ONE, *(_if(test, ONE, ZERO) for test in above)], "m_")
            means.append(_node("div", total, count))
        level = self._let("level", _few("max", means))
        low = [_node("min", value, level) for value in mixed]
        own = [_compare(decided, "==", place(c)) for c in range(len(mixed))]
        return self._lets("g", map(_if, own, [level] * len(low), low))


class _Decision(NamedTuple):
    """The predicted class, the scores, the one of that class, unscaled probabilities, the rule."""

    decided: Expr
    scores: Sequence[Expr]
    score: Expr
    amounts: Sequence[Expr] = ()
    rule: Expr = NO_RULE


def _named(prefix: str, values: Sequence[Expr]) -> dict[str, Expr]:
    return {f"{prefix}{k}": value for k, value in enumerate(values, start=1)}


def _node(op: str, *args: Expr) -> Expr:
    return Expr(op, args)


def _compare(left: Expr, sign: str, right: Expr) -> Expr:
    return Expr("compare", (left, right), sign)


def _if(test: Expr, holds: Expr, fails: Expr) -> Expr:
    return Expr("if", (test, holds, fails))


def _few(op: str, args: Sequence[Expr]) -> Expr:
    """Return a node of one or more arguments; one is its own smallest, largest, sum and so on."""
    return args[0] if len(args) == 1 else Expr(op, tuple(args))


def _all(tests: Sequence[Expr]) -> Expr:
    return _few("all", tests) if tests else Expr("truth", (), True)


def _first(tests: Sequence[Expr]) -> Expr:
    return Expr("first", tuple(tests)) if tests else place(0)


def _distance(x: Expr, side: Side) -> Expr:
    """Return how far a value is on the inner side of the end of a support."""
    end = const(side.support)
    return _node("sub", x, end) if side.end == "low" else _node("sub", end, x)


def _pick(at: Expr, values: Sequence[Expr]) -> Expr:
    """Return the value at a position."""
    if all(value == values[0] for value in values):
        return values[0]
    return Expr("pick", (at, *values))
