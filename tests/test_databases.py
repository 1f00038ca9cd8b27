"""SQL on servers of PostgreSQL and MariaDB, and in a parser for databases that cannot run here."""

import contextlib
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd
import pytest
import sqlglot
import yaml

import frri
import test_export_dmn
import test_export_onnx
from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.export import to_dbt, to_javascript, to_sql
from frri.export.sql_dialects import ALIASES, DIALECTS, find_dialect
from programs import duck_answers, python_module, records, sqlite_answers
from test_conformance import FRAME, RULESETS, TITLES, close, the
from test_export import HOSTILE, MIXED, hostile_ruleset, many_rules
from thorough import THOROUGH

PARSED = {"sqlserver": "tsql", "bigquery": "bigquery", "snowflake": "snowflake", "spark": "spark"}
PARSED |= {"postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite", "duckdb": "duckdb"}


def unprivileged(command, user, folder, **options):
    """Start a server that refuses to run as root as another user."""
    if os.geteuid() != 0:
        return command, options
    shutil.chown(folder, user)
    return command, {**options, "user": user, "group": user, "extra_groups": []}


def need(name, found):
    """Skip where a server cannot be installed; where Debian packages can, CI needs it."""
    if found:
        return
    if os.environ.get("CI") == "true" and sys.platform == "linux":
        pytest.fail(f"{name} is missing")
    pytest.skip(f"needs {name}")


@contextlib.contextmanager
def running(command, connect, **options):
    """A server process, ready for connections, ended afterwards."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                connection = connect()
                break
            except Exception:  # noqa: BLE001 - not ready yet, by any error of two libraries
                assert process.poll() is None, "the server has ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.1)
        yield connection
        connection.close()
    finally:
        process.terminate()
        process.wait(30)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def postgresql():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    need("the Debian package postgresql", found)
    import pg8000.dbapi

    # Other users cannot read the folders of pytest.
    folder = Path(tempfile.mkdtemp(prefix="frri-postgresql-"))
    port, programs = free_port(), found[-1].parent
    command = [programs / "initdb", "-D", folder / "data", "-U", "frri", "-A", "trust", "-N"]
    command += ["-E", "UTF8", "--locale=C.UTF-8"]
    command, options = unprivileged(command, "postgres", folder)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **options)
    server = [programs / "postgres", "-D", folder / "data", "-h", "127.0.0.1", "-p", str(port)]
    server += ["-k", "", "-c", "fsync=off", "-c", "timezone=America/Lima", "-c", "jit=off"]

    def connect():
        connection = pg8000.dbapi.connect("frri", "127.0.0.1", "postgres", port)
        connection.autocommit = True
        return connection

    try:
        with running(server, connect, cwd=folder, **options) as connection:
            yield connection
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def mysql(tmp_path_factory):
    server = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
    need("the Debian package mariadb-server", Path(server).exists())
    import pymysql

    folder = tmp_path_factory.mktemp("mariadb")
    user = "root" if os.geteuid() == 0 else os.environ.get("USER", "root")
    where = [f"--datadir={folder / 'data'}", f"--user={user}"]
    setup = [
        "mariadb-install-db",
        "--no-defaults",
        *where,
        "--auth-root-authentication-method=normal",
    ]
    subprocess.run(setup, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = free_port()
    command = [
        server,
        "--no-defaults",
        *where,
        f"--socket={folder / 'mysql.sock'}",
        f"--port={port}",
    ]
    command += ["--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0"]

    def connect():
        return pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4")

    with running(command, connect) as connection:
        connection.cursor().execute("CREATE DATABASE frri CHARACTER SET utf8mb4")
        connection.select_db("frri")
        connection.autocommit(True)
        yield connection


def answers(connection, dialect, ruleset, frame, **types):
    """Return predictions, rules and scores of a server, in the order of the rows."""
    fill(connection, dialect, ruleset, frame, **types)
    return ask(connection, dialect, ruleset)


def fill(connection, dialect, ruleset, frame, **types):
    """Create a table from a data frame."""
    words, cursor = DIALECTS[dialect], connection.cursor()
    table = words.identifier("a table")
    cursor.execute(f"DROP TABLE IF EXISTS {table}")
    kinds = {a.name: "DOUBLE PRECISION" for a in ruleset.attributes if a.kind == "numeric"}
    columns = [
        f"{words.identifier(name)} {types.get(name, kinds.get(name, 'TEXT'))}" for name in frame
    ]
    cursor.execute(f"CREATE TABLE {table} (row_number_ INTEGER, {', '.join(columns)})")
    plain = frame.astype(object).where(frame.notna(), None)
    rows = [(i, *row) for i, row in enumerate(plain.itertuples(index=False, name=None))]
    places = ", ".join(["%s"] * (1 + len(frame.columns)))
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        values = ", ".join([f"({places})"] * len(part))
        cursor.execute(f"INSERT INTO {table} VALUES {values}", [v for row in part for v in row])


def ask(connection, dialect, ruleset):
    """Run the query of a rule set; without parameters a percent sign is no placeholder."""
    cursor = connection.cursor()
    cursor.execute(to_sql(ruleset, "a table", dialect=dialect, keep="row_number_"))
    return sorted(cursor.fetchall(), key=lambda row: row[0])


# ---------------------------------------------------------------- executed


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_the_conformance_table(dialect, request):
    connection = request.getfixturevalue(dialect)
    fill(connection, dialect, RULESETS[0][0], FRAME)
    for title, (ruleset, expected) in zip(TITLES, RULESETS, strict=True):
        found = ask(connection, dialect, ruleset)
        deciding = [None if r is None else r + 1 for r in the(expected, "deciding")]
        answered, scores = the(expected, "answer"), the(expected, "scores")
        if ruleset.task == "regression":
            close([answer[1] for answer in found], answered)
        else:
            assert [answer[1] for answer in found] == answered, title
        assert [answer[2] for answer in found] == deciding, title
        if ruleset.task == "ordinal":
            scores = [[s[ruleset.classes.index(a)]] for s, a in zip(scores, answered, strict=True)]
        close([answer[3] for answer in found], [max(s) for s in scores])


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_hostile_names(dialect, request):
    connection = request.getfixturevalue(dialect)
    ruleset, frame = hostile_ruleset()
    # In MySQL, names of columns may not end in a space nor have letters beyond the first 65,536.
    names = {name: f"{name.replace('🐍', '')}." for name in HOSTILE}
    table = tuple(replace(a, name=names[a.name]) for a in ruleset.attributes)
    rules = []
    for rule in ruleset:
        conditions = tuple(replace(c, attribute=names[c.attribute]) for c in rule.conditions)
        rules.append(Rule(conditions, rule.consequent, rule.weight))
    ruleset = RuleSet(tuple(rules), table, HOSTILE)
    frame = frame.rename(columns=names)
    found = answers(connection, dialect, ruleset, frame)
    assert [answer[1] for answer in found] == ruleset.predict(frame).tolist()


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_hundreds_of_rules(dialect, request):
    ruleset = many_rules(350, 5, clip=True)
    random = np.random.default_rng(0).random((40, 6)) * 1.2
    frame = pd.DataFrame(random, columns=[a.name for a in ruleset.attributes])
    found = answers(request.getfixturevalue(dialect), dialect, ruleset, frame)
    assert [answer[1] for answer in found] == ruleset.predict(frame).tolist()


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_types_and_strings_of_columns(dialect, request):
    """Types of a database, numbers and dates in text, a zone, empty texts, upper and lower case."""
    connection = request.getfixturevalue(dialect)
    frame = pd.DataFrame(
        {
            "n": ["2", " 0 ", "0", "", "abc"],
            "b": ["no", "yes", "FALSE", None, "0"],
            "d": ["2020-01-01", "", "2022-01-09T06:30:00.123456Z", None, "2020-01-01 00:00:00"],
            "o": ["low", "low", "low", "high", "High"],
        }
    )
    known = frame.assign(
        n=[2, 0, 0, None, None], d=[*frame["d"][:1], None, "2022-01-09T06:30:00.123456", None, None]
    )
    expected = MIXED.predict(known).tolist()
    assert len(set(expected)) == 4
    found = answers(connection, dialect, MIXED, frame, n="TEXT")
    assert [answer[1] for answer in found] == expected
    np.testing.assert_array_equal([a[3] for a in found], MIXED.scores(known).max(axis=1))
    moment = "TIMESTAMP" if dialect == "postgresql" else "DATETIME(6)"
    typed = known.assign(d=known["d"].map(datetime.fromisoformat, na_action="ignore"))
    typed["b"] = pd.Series([False, True, False, None, False], dtype=object)
    found = answers(connection, dialect, MIXED, typed, d=moment, b="BOOLEAN")
    assert [answer[1] for answer in found] == expected


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_numbers_are_read_back_to_the_last_bit(dialect, request):
    random, cursor = np.random.default_rng(0), request.getfixturevalue(dialect).cursor()
    numbers = [*(random.random(300) * 10.0 ** random.integers(-9, 9, 300)).tolist()]
    numbers += [0.1, 1 / 3, 1e-300, 1e22, 1e23, 0.0, -2.0, 123456789012345680.0]
    cursor.execute(f"SELECT {', '.join(map(DIALECTS[dialect].number, numbers))}")
    assert [*map(float, cursor.fetchall()[0])] == numbers


def test_an_empty_text_is_missing_in_every_database(duck):
    rules = (
        Rule((NominalCondition("c", frozenset({"x"}), excludes=True),), "other"),
        Rule((NumericCondition("n", core_high=1, support_high=1),), "low", 0.5),
    )
    table = (Attribute("c", categories=("x", "y")), Attribute("n", 0, 9))
    ruleset = RuleSet(
        rules, table, ("none", "low", "other"), fallback="priors", class_counts=(9, 1, 1)
    )
    frame = pd.DataFrame({"c": ["", None, "z", "x"], "n": ["", None, "", "1"]}, dtype=object)
    expected = ["none", "none", "other", "low"]
    assert [answer[1] for answer in sqlite_answers(ruleset, frame)] == expected
    assert [answer[1] for answer in duck_answers(duck, ruleset, frame)] == expected


# ---------------------------------------------------------------- fitted models

# 10,000 rows of all models in every test run, 200,000 in a thorough one.
N_ROWS = 10_000 if THOROUGH else 500


def mixed_rows(n, seed, *, strange):
    """Return rows with all types of columns; with `strange`, also missing, unseen and extreme values."""
    random = np.random.default_rng(seed)
    reach = 1.4 if strange else 1.0
    moments = np.datetime64("2022-01-01T00:00") + random.integers(0, 700, n).astype(
        "timedelta64[h]"
    )
    frame = pd.DataFrame(
        {
            "age": random.integers(18, int(90 * reach), n).astype(float),
            "dose": random.normal(0, reach, n).round(2),
            "colour": random.choice(["blue", "green", "red", *(["violet"] if strange else [])], n),
            "size": random.choice(["small", "medium", "large"], n),
            "day": [str(moment) for moment in moments],
        }
    ).astype({"colour": object, "size": object, "day": object})
    for name in frame if strange else ["dose", "colour"]:
        frame.loc[random.random(n) < 0.06, name] = None
    return frame


@pytest.fixture(scope="module")
def fitted():
    """Return twenty models of all estimators on mixed data."""
    frame = mixed_rows(70, 0, strange=False)
    order = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    table = frame.assign(size=frame["size"].astype(order), day=pd.to_datetime(frame["day"]))
    noise = np.random.default_rng(1).normal(0, 8, len(frame))
    number = frame["age"] + 20 * (frame["colour"] == "red") + 9 * frame["dose"].fillna(0) + noise
    label = np.where(number > 70, "high", np.where(number > 45, "middle", "low"))
    rank = pd.Categorical(label, ["low", "middle", "high"], ordered=True)
    classifiers = [
        frri.FRRIClassifier(),
        frri.FRRIClassifier(missing="similar"),
        frri.FRRIBaggingClassifier(n_estimators=2, random_state=0),
        frri.CompactFRRIClassifier(),
        frri.QuickRulesClassifier(),
        frri.QuickRulesClassifier(t_norm="lukasiewicz"),
        frri.MODLEMClassifier(),
        frri.RIPPERClassifier(random_state=0),
        frri.FURIAClassifier(random_state=0),
        frri.FURIAClassifier(fallback="priors", random_state=0),
        frri.AdditiveRulesClassifier(),
        frri.AdditiveRulesClassifier(max_rules=4),
        frri.AdditiveRulesBaggingClassifier(n_estimators=2, random_state=0),
    ]
    ordinal = [frri.FRRIOrdinalClassifier(), frri.AdditiveRulesOrdinalClassifier()]
    regressors = [frri.FRRIRegressor(), frri.AdditiveRulesRegressor()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [model.fit(table, label).ruleset_ for model in classifiers]
        found += [found[0].with_decision({"high": 4}), found[10].with_decision({"low": 3})]
        found += [model.fit(table, rank).ruleset_ for model in ordinal]
        found += [model.fit(table, number).ruleset_ for model in regressors]
        found.append(replace(found[-2], semantics=replace(found[-2].semantics, clip=True)))
    rows = mixed_rows(N_ROWS, 5, strange=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rows, [(ruleset, ruleset.decide(rows)) for ruleset in found]


def decisions_agree(decision, labels, rules, scores):
    """Compare whole columns with the library."""
    ruleset = decision.ruleset
    known = decision.scores
    known = known[:, 0] if not ruleset.classes else known
    if ruleset.task == "ordinal":
        known = known[np.arange(len(known)), decision.index]
    elif ruleset.classes:
        known = known.max(axis=1)
    found = np.array([0 if rule is None else rule for rule in rules])
    np.testing.assert_array_equal(found, decision.deciding + 1)
    np.testing.assert_allclose(np.array(scores, dtype=float), known, rtol=1e-12, atol=1e-12)
    if ruleset.classes:
        np.testing.assert_array_equal(np.array(labels), decision.answers)
    else:
        np.testing.assert_allclose(np.array(labels, float), decision.answers, rtol=1e-12)


@pytest.mark.parametrize("database", ["sqlite", "duckdb", "postgresql", "mysql"])
def test_fitted_models_in_databases(database, fitted, request):
    rows, models = fitted
    if database == "sqlite":
        connection = sqlite3.connect(":memory:")
        rows.reset_index(names="row_number_").to_sql("a table", connection, index=False)
    elif database == "duckdb":
        connection = request.getfixturevalue("duck")
        connection.register("rows", rows.reset_index(names="row_number_"))
        connection.execute('CREATE OR REPLACE TABLE "a table" AS SELECT * FROM rows')
    else:
        connection = request.getfixturevalue(database)
        fill(connection, database, models[0][0], rows)
    for _, decision in models:
        if database == "duckdb":
            query = to_sql(decision.ruleset, "a table", dialect="duckdb", keep="row_number_")
            found = sorted(connection.execute(query).fetchall())
        else:
            found = ask(connection, database, decision.ruleset)
        assert [row[0] for row in found] == [*range(N_ROWS)]
        decisions_agree(decision, *([row[k] for row in found] for k in (1, 2, 3)))
    if database == "sqlite":
        connection.close()


def test_fitted_models_in_programs(fitted, node):
    rows, models = fitted
    table = records(rows)
    for ruleset, decision in models:
        module = python_module(ruleset)
        script = [answer for (answer,) in node.run(to_javascript(ruleset), table, ["explain"])]
        for answers in (script, [module.explain(row) for row in table]):
            labels, rules, scores = (
                [a[k] for a in answers] for k in ("prediction", "rule", "score")
            )
            decisions_agree(decision, labels, rules, scores)
        if ruleset.classes:
            found = [module.probabilities(row) for row in table[:500]]
            np.testing.assert_allclose(found, decision.probabilities[:500], rtol=0, atol=1e-12)


def test_fitted_models_in_onnx_and_zen(fitted):
    rows, models = fitted
    for ruleset, decision in models:
        test_export_onnx.agree(ruleset, rows, decision)
        if ruleset.semantics.name != "cumulative-logits":
            part = rows[:100]
            test_export_dmn.agree(ruleset, part, test_export_dmn.zen_answers(ruleset, part))


# ---------------------------------------------------------------- dbt


def test_a_dbt_model_runs_and_its_schema_is_read(duck):
    name, labels = "it's {# no #} column", ("{{ 1 / 0 }}", "{% x %}", 'a"b\\')
    rules = [Rule((NumericCondition(name, k, k, k, k),), label) for k, label in enumerate(labels)]
    ruleset = RuleSet(tuple(rules), (Attribute(name, 0, 2),), labels, target="{{ target }}")
    frame = pd.DataFrame({name: [2.0, 1.0, 0.0]})
    model, schema = to_dbt(ruleset, "people", dialect="duckdb", name="risk", keep="id")
    duck.register("people", frame.reset_index(names="id"))
    query = jinja2.Template(model).render(ref=lambda name: f'"{name}"')
    assert [row[1] for row in sorted(duck.execute(query).fetchall())] == [*labels[::-1]]
    duck.unregister("people")
    [described] = yaml.safe_load(schema)["models"]
    assert described["name"] == "risk"
    assert jinja2.Template(described["description"]).render() == described["description"]
    prediction, rule, score = described["columns"]
    assert (rule["name"], score["name"]) == ("rule", "score")
    [not_null, accepted] = prediction["data_tests"]
    assert not_null == "not_null"
    assert accepted["accepted_values"] == {"values": [*labels], "quote": True}
    assert "{{ source('raw', 'people') }}" in to_dbt(ruleset, "people", source="raw", keep="id")[0]
    with pytest.raises(ValueError, match="letters, digits and _ only, got 'my people'"):
        to_dbt(ruleset, "my people")
    with pytest.raises(ValueError, match="dbt changes the line breaks"):
        to_dbt(ruleset, keep="a\rb")


# ---------------------------------------------------------------- parsed


@pytest.mark.parametrize("dialect", sorted(PARSED))
def test_a_parser_of_the_dialect_accepts_the_query(dialect):
    kinds = {(ruleset.semantics.name, ruleset.fallback): ruleset for ruleset, _ in RULESETS}
    for ruleset in kinds.values():
        query = to_sql(ruleset, ["main", "t"], dialect=dialect, as_view="v", keep="id")
        [view] = sqlglot.parse(query, read=PARSED[dialect], error_level=sqlglot.ErrorLevel.RAISE)
        assert view.key == "create"
        selected = [column.alias_or_name for column in view.expression.selects]
        assert selected == ["id", "prediction", "rule", "score"]


def test_dialects_have_the_usual_names():
    assert all(find_dialect(alias.upper()).name == name for alias, name in ALIASES.items())
    with pytest.raises(ValueError, match="no dialect 'oracle'; it has sqlite, duckdb"):
        find_dialect("oracle")
