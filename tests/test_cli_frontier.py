"""`frri frontier`: the minimum number of errors by number of rules, on the command line."""

import json

import pytest

from frri import RuleSet
from frri.cli import main
from make_patients import patients


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Return a folder with a table, and the command line for it."""
    rows = patients().splitlines(keepends=True)[:61]
    (tmp_path / "patients.csv").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    return ["frontier", "patients.csv", "--target", "risk", "--ignore", "visit"]


def test_sentences_json_and_the_chosen_rules(table, capsys):
    ask = [*table, "--pool", "ripper", "--max-rules", "2"]
    assert main([*ask, "--rules", "2", "-o", "two.json"]) == 0
    out, err = capsys.readouterr()
    first, *sentences = out.splitlines()
    assert "default class: risk = low." in first
    assert [line.partition(" of ")[0] for line in sentences] == [
        "At most 1 rule",
        "At most 2 rules",
    ]
    assert "rules saved in two.json" in err
    assert main([*ask, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [point["certificate"] for point in found["points"]] == sentences
    chosen = RuleSet.load("two.json")
    assert len(chosen) == found["points"][1]["rules"] <= 2
    assert chosen.about["frontier"] == sentences[1]
    # A saved model is a pool; without an output file, the rules are printed.
    assert main([*table, "--pool", "two.json", "--max-rules", "1", "--rules", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("1  IF ")


def test_pools_of_candidates_and_of_leaves(table, capsys):
    ask = ["--max-rules", "1", "--time-limit", "1"]
    assert main([*table, "--pool", "frri", *ask]) == 0
    assert capsys.readouterr().out.startswith("Pool of 60 rules, 60 samples")
    assert main([*table, "--pool", "trees", *ask]) == 2
    assert "Trees take numbers, and 'sex' is nominal; leave it out by --ignore" in (
        capsys.readouterr().err
    )
    assert main([*table, "--ignore", "sex,smoker", "--pool", "trees", *ask]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("At most 1 rule of ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pool", "tree"], "frri frontier has no pool 'tree'; did you mean 'trees'?"),
        (["--rules", "7"], "--rules 7 is more than --max-rules 6."),
        (["--json", "--rules", "2"], "--json and the rules would both go to standard output"),
        (["--pool", "frri,none.json"], "There is no file none.json."),
        (["-o", "patients.csv"], "Writing patients.csv would overwrite what is read from it."),
    ],
)
def test_bad_requests_get_one_sentence(table, capsys, arguments, message):
    assert main([*table, *arguments]) == 2
    assert message in capsys.readouterr().err
