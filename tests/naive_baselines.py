"""Reference implementation of RIPPER and FURIA: slow, simple, and close to the definitions.

A table is a list of rows, a missing value is NaN, a nominal value is the number of its category. A test
is a triple (attribute, "<=" or ">=" or "=", value), a rule is a list of tests, `rows` are row numbers
and `own` states for every row whether it belongs to the class. `weights` are those of the rows; without
them, every row has weight 1.
"""

from fractions import Fraction
from math import inf, isnan, log2, nan

import numpy as np
import pandas as pd

from frri._reproducible import log2 as reproducible_log2

TOLERANCE = 1e-6


# --- RIPPER and FURIA: tests and rules


def holds(test, x):
    attribute, comparison, value = test
    if comparison == "<=":
        return x[attribute] <= value
    if comparison == ">=":
        return x[attribute] >= value
    return x[attribute] == value


def covered(X, rule, rows):
    return [i for i in rows if all(holds(test, X[i]) for test in rule)]


def distinct(X, rows, attribute):
    return sorted({X[i][attribute] for i in rows if not isnan(X[i][attribute])})


def tests_in_order(X, rows, nominal):
    """Every test with a value of these rows; the first of equally good ones is used."""
    for attribute, named in enumerate(nominal):
        for value in distinct(X, rows, attribute):
            if named:
                yield attribute, "=", value
            else:
                yield attribute, ">=", value
                yield attribute, "<=", value


def number_of_tests(X, nominal):
    return len(list(tests_in_order(X, range(len(X)), nominal)))


# --- RIPPER and FURIA: growing and pruning


def gain(p, t, P, T):
    bits = [float(reproducible_log2(n + 1)) for n in (p, t, P, T)]  # ties depend on the last bit
    return p * ((bits[0] - bits[1]) - (bits[2] - bits[3]))


def exact_gain(p, t, P, T):
    """Two to the power of the gain."""
    return (Fraction(p + 1, t + 1) / Fraction(P + 1, T + 1)) ** p


def counts(X, own, rule, rows, weights=None):
    chosen = covered(X, rule, rows)
    weigh = [1 if weights is None else weights[i] for i in chosen]
    return sum(w for i, w in zip(chosen, weigh, strict=True) if own[i]), sum(weigh)


def best_test(X, own, rows, nominal, weights=None):
    """The first test of greatest gain above 0, or None."""
    P, T = counts(X, own, [], rows, weights)
    best, found = 0.0, None
    for test in tests_in_order(X, rows, nominal):
        value = gain(*counts(X, own, [test], rows, weights), P, T)
        if value > best:
            best, found = value, test
    return found


def grow(X, own, rule, rows, nominal, min_weight, weights=None, most=1000):
    rule = list(rule)
    while len(rule) < most:
        rows = covered(X, rule, rows)
        P, T = counts(X, own, [], rows, weights)
        test = None if P == T else best_test(X, own, rows, nominal, weights)
        if test is None or counts(X, own, [test], rows, weights)[0] < min_weight:
            return rule
        rule.append(test)
    return rule


def prune(X, own, rule, rows, worth, keep_hopeless, weights=None):
    if not rows:
        return rule
    P, T = counts(X, own, [], rows, weights)
    best, chosen = Fraction(P + 1) / Fraction(T + 2), None
    for k in range(1, len(rule) + 1):
        p, t = counts(X, own, rule[:k], rows, weights)
        if worth == "precision":
            value = Fraction(p + 1) / Fraction(t + 2)
        else:
            value = Fraction(p + (T - P) - (t - p)) / Fraction(T)
        if value > best:
            best, chosen = value, rule[:k]
    if chosen is not None:
        return chosen
    return rule if keep_hopeless else []


# --- RIPPER and FURIA: description length


def subset_length(n, k, share):
    if share > 1:
        return nan
    first = -k * log2(share) if share > 0 else 0.0
    if n - k == 0:
        return first
    return first - (n - k) * (log2(1 - share) if share < 1 else -inf)


def data_length(e, cov, unc, fp, fn):
    if cov > unc:
        first = subset_length(cov, fp, e * (fp + fn) / cov)
        second = subset_length(unc, fn, fn / unc) if unc else 0.0
    else:
        first = subset_length(cov, fp, fp / cov) if cov else 0.0
        second = subset_length(unc, fn, (1 - e) * (fp + fn) / unc) if unc else 0.0
    return log2(cov + unc + 1) + first + second


def theory_length(k, n_tests):
    if k == 0:
        return 0.0
    number = log2(k) + (2 * log2(log2(k)) if k > 1 else 0.0)
    return 0.5 * (number + subset_length(n_tests, k, k / n_tests))


class ClassProblem:
    """One class against the rest; `split` divides row numbers into those to grow and to prune on."""

    def __init__(
        self, X, own, rows, nominal, e, min_weight, split, *, pruned, keep_hopeless, weights=None
    ):
        self.X, self.own, self.rows, self.nominal, self.e = X, own, rows, nominal, e
        self.weights = weights
        self.min_weight, self.split = min_weight, split
        self.pruned, self.keep_hopeless = pruned, keep_hopeless
        self.n_tests = number_of_tests(X, nominal)

    # statistics: each rule is counted on the rows that earlier rules do not cover

    def rule_counts(self, rules):
        left, result = self.rows, []
        for rule in rules:
            p, t = counts(self.X, self.own, rule, left, self.weights)
            result.append({"cov": t, "tp": p, "fp": t - p})
            left = [i for i in left if i not in covered(self.X, rule, left)]
        return result

    def total(self, each):
        cov = sum(c["cov"] for c in each)
        tp = sum(c["tp"] for c in each)
        P, T = counts(self.X, self.own, [], self.rows, self.weights)
        return {"cov": cov, "unc": T - cov, "fp": cov - tp, "fn": P - tp}

    def data_length(self, stats):
        return data_length(self.e, stats["cov"], stats["unc"], stats["fp"], stats["fn"])

    @staticmethod
    def without(stats, c):
        return {
            "cov": stats["cov"] - c["cov"],
            "unc": stats["unc"] + c["cov"],
            "fp": stats["fp"] - c["fp"],
            "fn": stats["fn"] + c["tp"],
        }

    def potential(self, stats, c, rule):
        """Description length saved by deleting a rule; None if it should stay."""
        saved = (
            self.data_length(stats)
            + theory_length(len(rule), self.n_tests)
            - self.data_length(self.without(stats, c))
        )
        wrong = c["cov"] > 0 and c["fp"] / c["cov"] >= 0.5
        return saved if saved > -TOLERANCE or wrong else None

    def relative_length(self, rules, i):
        with_rule = self._least_data_length(rules, i + 1)
        without = self._least_data_length(rules[:i] + rules[i + 1 :], i)
        return with_rule + theory_length(len(rules[i]), self.n_tests) - without

    def _least_data_length(self, rules, first_later):
        each = self.rule_counts(rules)
        stats, potentials = self.total(each), 0.0
        for c, rule in list(zip(each, rules, strict=True))[first_later:]:
            saved = self.potential(stats, c, rule)
            if saved is not None:
                stats = self.without(stats, c)
                potentials += saved
        return self.data_length(stats) - potentials

    def delete_needless(self, rules):
        each = self.rule_counts(rules)
        stats, kept = self.total(each), []
        for c, rule in reversed(list(zip(each, rules, strict=True))):
            if self.potential(stats, c, rule) is None:
                kept.insert(0, rule)
            else:
                stats = self.without(stats, c)
        return kept

    # building and improving a list of rules

    def default_length(self):
        return self.data_length(self.total([]))

    def has_positives(self, rows):
        return any(self.own[i] for i in rows)

    def grow(self, rule, rows):
        return grow(self.X, self.own, rule, rows, self.nominal, self.min_weight, self.weights)

    def prune(self, rule, rows, worth):
        return prune(self.X, self.own, rule, rows, worth, self.keep_hopeless, self.weights)

    def uncovered(self, rule, rows):
        hit = set(covered(self.X, rule, rows))
        return [i for i in rows if i not in hit]

    def new_rule(self, rows):
        if not self.pruned:
            return self.grow([], rows)
        growing, pruning = self.split(rows)
        return self.prune(self.grow([], growing), pruning, "precision")

    def stops(self, rules, length, shortest):
        last = self.rule_counts(rules)[-1]
        return (
            length > shortest + 64 + TOLERANCE or last["tp"] == 0 or last["fp"] / last["cov"] >= 0.5
        )

    def build(self):
        rules, left = [], self.rows
        length = shortest = self.default_length()
        while self.has_positives(left):
            rule = self.new_rule(left)
            length += self.relative_length([*rules, rule], len(rules))
            shortest = min(shortest, length)
            if self.stops([*rules, rule], length, shortest):
                break
            rules.append(rule)
            left = self.uncovered(rule, left)
        return rules

    def optimize(self, old_rules):
        rules, left, position = list(old_rules), self.rows, 0
        length = shortest = self.default_length()
        while self.has_positives(left):
            if position < len(rules):
                rules[position] = self.improve(rules, position, left)
            else:
                rule = self.new_rule(left)
                length += self.relative_length([*rules, rule], len(rules))
                shortest = min(shortest, length)
                if self.stops([*rules, rule], length, shortest):
                    break
                rules.append(rule)
            left = self.uncovered(rules[position], left)
            position += 1
        visited, rest = rules[:position], rules[position:]
        return self.delete_needless(visited + rest[1:])

    def improve(self, rules, position, left):
        old = rules[position]
        if not covered(self.X, old, left):
            return old
        growing, pruning = self.split(left)
        for later in rules[position + 1 :]:
            pruning = self.uncovered(later, pruning)
        replacement = self.prune(self.grow([], growing), pruning, "accuracy")
        revision = self.grow(old, covered(self.X, old, growing))
        revision = self.prune(revision, pruning, "accuracy")

        def length(rule):
            return self.relative_length([*rules[:position], rule, *rules[position + 1 :]], position)

        def at_most(a, b):
            return a - b < TOLERANCE

        if at_most(length(old), length(revision)) and at_most(length(old), length(replacement)):
            return old
        return revision if at_most(length(revision), length(replacement)) else replacement

    def rules(self, optimizations):
        rules = self.build()
        for _ in range(optimizations):
            rules = self.optimize(rules)
        return rules


# --- RIPPER: the decision list


def decision_list(X, y, nominal, order, split, min_weight=2, optimizations=2, weights=None):
    """Rules of each class in order but the last, as pairs (class, rule)."""
    result, left = [], list(range(len(X)))
    for k, label in enumerate(order[:-1]):
        own = [other == label for other in y]
        here = [i for i, other in enumerate(y) if other in order[k:]]
        positives, total = counts(X, own, [], here, weights)
        how = {"pruned": True, "keep_hopeless": False, "weights": weights}
        problem = ClassProblem(X, own, left, nominal, positives / total, min_weight, split, **how)
        for rule in problem.rules(optimizations):
            result.append((label, rule))
            left = problem.uncovered(rule, left)
    return result


def tightest(rule):
    """Keep only the last test per attribute and direction, in place of the first."""
    result = []
    for test in rule:
        same = [k for k, other in enumerate(result) if other[:2] == test[:2]]
        if same:
            result[same[0]] = test
        else:
            result.append(test)
    return result


# --- FURIA: fuzzy tests, certainty factors, rule stretching


def membership(test, support, x):
    """Exact degree of a value; `support` None for a crisp test."""
    attribute, comparison, core = test
    value = x[attribute]
    if isnan(value):
        return Fraction(0)
    if holds(test, x):
        return Fraction(1)
    if support is None or comparison == "=":
        return Fraction(0)
    inside = value < support if comparison == "<=" else value > support
    if not inside:
        return Fraction(0)
    return (Fraction(support) - Fraction(value)) / (Fraction(support) - Fraction(core))


def outside(X, test, rows):
    """Values beyond the core among some rows, going outward."""
    attribute, comparison, core = test
    if comparison == "=":
        return []
    values = distinct(X, rows, attribute)
    if comparison == "<=":
        return [v for v in values if v > core]
    return [v for v in reversed(values) if v < core]


def purest_support(X, own, test, relevant, weights=None):
    best, support = Fraction(0), None
    for candidate in outside(X, test, relevant):
        degrees = {
            i: membership(test, candidate, X[i]) * (1 if weights is None else Fraction(weights[i]))
            for i in relevant
        }
        total = sum(degrees.values())
        purity = sum(degrees[i] for i in relevant if own[i]) / total if total else Fraction(0)
        if purity >= best:
            best, support = purity, candidate
    return best, support


def fuzzify(X, own, rule, weights=None):
    """The support of every test."""
    everything = list(range(len(X)))
    supports, done, best_so_far = [None] * len(rule), set(), Fraction(0)
    while len(done) < len(rule):
        best, choice = None, None
        for j, test in enumerate(rule):
            if j in done:
                continue
            others = [k for k in range(len(rule)) if k != j]
            relevant = [
                i
                for i in everything
                if all(membership(rule[k], supports[k], X[i]) > 0 for k in others)
            ]
            purity, support = purest_support(X, own, test, relevant, weights)
            if best is None or purity > best:
                best, choice = purity, (j, support)
        j, support = choice
        done.add(j)
        if support is not None and best >= best_so_far:
            best_so_far = best
            supports[j] = support
    for j, test in enumerate(rule):
        if supports[j] is None:
            supports[j] = next(iter(outside(X, test, everything)), None)
    return supports


def joined(degrees, t_norm):
    result = Fraction(1)
    for degree in degrees:
        result = result * degree if t_norm == "product" else min(result, degree)
    return result


def certainty(X, own, rule, supports, t_norm, weights=None):
    weigh = [Fraction(1 if weights is None else weights[i]) for i in range(len(X))]
    degrees = [
        w * joined([membership(t, s, x) for t, s in zip(rule, supports, strict=True)], t_norm)
        for x, w in zip(X, weigh, strict=True)
    ]
    share = sum(w for w, o in zip(weigh, own, strict=True) if o) / sum(weigh)
    return (2 * share + sum(d for d, o in zip(degrees, own, strict=True) if o)) / (2 + sum(degrees))


def furia_scores(X, y, classes, fuzzy_rules, t_norm, stretch, x):
    """Scores of the classes for a new object; `fuzzy_rules` are triples (class, rule, supports)."""
    scores = dict.fromkeys(classes, Fraction(0))
    for label, rule, supports in fuzzy_rules:
        own = [other == label for other in y]
        degrees = [membership(t, s, x) for t, s in zip(rule, supports, strict=True)]
        if rule:
            scores[label] += joined(degrees, t_norm) * certainty(X, own, rule, supports, t_norm)
    if any(scores.values()):
        return scores
    if stretch:
        for label, rule, supports in fuzzy_rules:
            own = [other == label for other in y]
            degrees = [membership(t, s, x) for t, s in zip(rule, supports, strict=True)]
            k = next((i for i, degree in enumerate(degrees) if degree == 0), len(rule))
            if k:
                factor = certainty(X, own, rule[:k], supports[:k], t_norm)
                value = factor * Fraction(k + 1, len(rule) + 2) * joined(degrees[:k], t_norm)
                scores[label] = max(scores[label], value)
    if any(scores.values()):
        return scores
    return {label: Fraction(sum(other == label for other in y), len(y)) for label in classes}


# --- small random tables with ties, duplicates, constants, missing values and categories


def random_table(seed, n_max=40, n_classes=None):
    """Values (categories as numbers), classes, and a flag for each nominal attribute."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(6, n_max)), int(rng.integers(1, 5))
    X = np.empty((n, m))
    nominal = []
    for j in range(m):
        kind = rng.choice(["few", "many", "constant", "nominal"], p=[0.5, 0.25, 0.05, 0.2])
        nominal.append(bool(kind == "nominal"))
        if kind == "many":
            X[:, j] = rng.normal(size=n).round(2)
        else:
            X[:, j] = rng.integers(0, {"few": 8, "constant": 1, "nominal": 4}[kind], size=n)
    k = n_classes or int(rng.integers(2, 5))
    signal = np.nan_to_num(X[:, 0]) + X[:, -1] + rng.normal(scale=1.0, size=n)
    y = np.searchsorted(np.quantile(signal, np.linspace(0, 1, k + 1)[1:-1]), signal)
    if rng.random() < 0.4:
        X[rng.random((n, m)) < 0.15] = np.nan
    if rng.random() < 0.3:
        copies = rng.integers(0, n, size=n // 3)
        X[: len(copies)] = X[copies]
    return X, y, nominal


def as_frame(X, nominal):
    """Return the table as a data frame with categories as strings."""
    columns = {}
    for j, named in enumerate(nominal):
        column = X[:, j]
        if named:
            words = ["" if np.isnan(v) else "abcd"[int(v)] for v in column]
            columns[f"x{j}"] = pd.Series([w or None for w in words], dtype=object)
        else:
            columns[f"x{j}"] = column
    return pd.DataFrame(columns)
