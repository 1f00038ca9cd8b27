"""Damaged files of results: one error message each, and unchanged files."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from frri import FRRIClassifier
from frri.compare import page, run
from frri.compare.journal import JournalError, signed_line
from thorough import often


class Failing(DummyClassifier):
    def fit(self, X, y):  # noqa: ARG002
        raise RuntimeError("no rules today")


LEARNERS = {"frri": FRRIClassifier(), "tree": DecisionTreeClassifier(), "hopeless": Failing()}
TABLE = (np.array([[i, i % 3] for i in range(12)]), ["no"] * 5 + ["yes"] * 7)


def go(out):
    return run([TABLE], LEARNERS, n_folds=2, workers=0, full=True, out=out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    go(out)
    return (out / "results.jsonl").read_text().splitlines()


def places(value, place=()):
    """Yield the paths to all nested values."""
    yield place
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*place, key))


STRANGE = [
    None, True, False, 0, -1, 7, 2**63, 10**400, 0.5, float("inf"), float("nan"), "", "3", "\ud800",
    [], {}, [[]], {"a": {"b": [1]}}, [None], ["x"], [3, 1], {"yes": [1, 0]}, {"": None}, "tree",
]  # fmt: skip


def changed(line, place, change):
    """Return a line in which a value is replaced, removed, doubled or wrapped."""
    value = json.loads(line)
    if not place:
        return json.dumps(change("", value))
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    if change is None:
        del holder[place[-1]]
    else:
        holder[place[-1]] = change(place[-1], holder[place[-1]])
    return json.dumps(value)


@st.composite
def damages(draw, lines):
    """Return a file of results with one or two changes after which every line is still JSON."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 2))):
        i = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 9)):
            case 0:
                lines.insert(draw(st.integers(0, len(lines))), lines[i])
            case 1:
                lines.append(lines.pop(i))
            case 2:
                del lines[i]
            case 3:
                lines[i] = draw(
                    st.sampled_from(["[" * 9999 + "]" * 9999, "7", '"x"', "null", "{}"])
                )
                break
            case 4:
                lines[i] = lines[i].replace("{", '{"fold": 1, "name": "tree", ', 1)
            case kind:
                place = draw(st.sampled_from(list(places(json.loads(lines[i])))))
                strange = draw(st.sampled_from(STRANGE))
                changes = {
                    5: None if place else lambda *_: {},
                    6: lambda _, value: [value],
                    7: lambda key, value: {str(key): value},
                    8: lambda _, value: str(value),
                }
                change = changes.get(kind, lambda *_, strange=strange: strange)
                lines[i] = changed(lines[i], place, change)
    return lines


def use(results, monkeypatch):
    """Call everything that reads results, except figures."""
    monkeypatch.setattr(page, "_pictures", lambda _: iter(()))
    report = page.make_report(results)
    assert page.page_html(report)
    assert len(results.frame()) == 9
    for table in report.tables.values():
        assert table.markdown()
        table.csv().encode()
    for name in LEARNERS:
        results.proved(name)


@settings(max_examples=often(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_damage_is_a_sentence_or_does_no_harm(whole, tmp_path_factory, data):
    file = tmp_path_factory.mktemp("damaged") / "results.jsonl"
    content = "".join(f"{line}\n" for line in data.draw(damages(whole)))
    file.write_text(content)
    with pytest.MonkeyPatch.context() as monkeypatch:
        try:
            use(go(file.parent), monkeypatch)
        except JournalError as error:
            message = str(error)
        else:
            return
    assert message.startswith(str(file))
    assert "\n" not in message
    assert len(message) < 900
    assert file.read_text() == content


def signed(line):
    """Return a line with a valid checksum."""
    return signed_line(json.loads(line)).decode().rstrip("\n")


@pytest.mark.parametrize(
    ("line", "place", "value", "sentence"),
    [
        (0, ("format",), 1, "is written in format 1, this version reads 2"),
        (0, ("format",), "2", 'is written in format "2", this version reads 2'),
        (0, ("versions", "numpy"), "0.1", "was made with numpy 0.1, this run has"),
        (3, ("as",), "Tree()", "has results of the learner 'tree' with Tree(), not Decision"),
    ],
)
def test_other_runs_are_named_with_the_remedy(whole, tmp_path, line, place, value, sentence):
    lines = list(whole)
    lines[line] = signed(changed(lines[line], place, lambda *_: value))
    refused(lines, tmp_path, sentence)


@pytest.mark.parametrize(
    ("line", "place", "value"),
    [
        (0, ("settings",), None),
        (1, ("as",), 5),
        (5, ("fold",), "0"),
        (5, ("scores", "accuracy"), 0.5),
        (5, ("recalls", "no"), [3, 2]),
        (5, ("lengths", 0), 10**400),
        (6, ("check",), 0),
    ],
)
def test_damaged_lines_are_named_with_the_remedy(whole, tmp_path, line, place, value):
    lines = list(whole)
    lines[line] = changed(lines[line], place, lambda *_: value)
    remedy = "delete that line, or choose another" if line else "choose another directory"
    refused(lines, tmp_path, f"line {line + 1} is damaged; {remedy}")


def refused(lines, folder, sentence):
    file = folder / "results.jsonl"
    content = "".join(f"{line}\n" for line in lines)
    file.write_text(content)
    with pytest.raises(JournalError) as error:
        go(folder)
    assert sentence in str(error.value)
    assert file.read_text() == content


@pytest.mark.parametrize("line", [1, 2])
def test_results_that_no_line_defines_are_run_again(whole, tmp_path, line):
    file = tmp_path / "results.jsonl"
    content = "".join(f"{one}\n" for number, one in enumerate(whole) if number != line)
    file.write_text(content)
    results = go(tmp_path)
    assert len(results.cells) == 9
    again = file.read_text().removeprefix(content).splitlines()
    assert json.loads(again[0])["define"] == ("data set" if line == 1 else "learner")
    assert len(again) == 1 + (9 if line == 1 else 3)
