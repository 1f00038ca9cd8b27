"""`frri mcp`: every tool, called by the SDK's own client over standard input and output."""

import json
import sys

import pytest

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet, read_table
from frri.cli import main
from frri.cli.mcp import ServedModels, make_server

RISK = RuleSet(
    (
        Rule((NumericCondition("age", 40, 60),), "high", 0.9),
        Rule((NominalCondition("smoker", ("no",)),), "low", 0.8),
    ),
    (
        Attribute("age", 18, 90),
        Attribute("smoker", categories=("no", "yes")),
        Attribute("id"),
    ),
    ("low", "high"),
    "risk",
)
PRICE = RuleSet(
    (Rule((NumericCondition("rooms", 2, 6),), 80.0),),
    (Attribute("rooms", 1, 9),),
    (),
    "price",
    semantics="added-contributions",
    base=(200.0,),
)
ROW = {"age": 70, "smoker": "yes"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "data").mkdir()
    RISK.save(folder / "risk model.json")
    PRICE.save(folder / "price.json")
    rows = "\n".join(
        f"{age},{'yes' if age % 3 else 'no'},{'high' if age > 50 else 'low'}"
        for age in [*range(20, 80), *range(30, 60)]
    )
    (folder / "data" / "patients.csv").write_text(f"age,smoker,risk\n{rows}\n")
    (folder / "secret.csv").write_text("age,smoker,risk\n20,no,low\n")
    (folder / "data" / "link.csv").symlink_to(folder / "secret.csv")
    return folder


@pytest.fixture(scope="module")
def client(folder):
    """One server process for all tests."""
    # Imported here, because collecting tests does not need them.
    from anyio.from_thread import start_blocking_portal
    from mcp import Client, StdioServerParameters

    models = [str(folder / "risk model.json"), str(folder / "price.json")]
    arguments = ["-m", "frri", "mcp", *models, "--folder", str(folder / "data")]
    command = StdioServerParameters(command=sys.executable, args=arguments)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(command)) as client,
    ):

        class Caller:
            def __getattr__(self, name):
                return lambda *args: portal.call(getattr(client, name), *args)

        yield Caller()


def answer(client, tool, **arguments):
    result = client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    found = result.structured_content
    return found["result"] if set(found) == {"result"} else found


def refusal(client, tool, **arguments):
    result = client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


def test_the_tools_have_descriptions_and_schemas(client):
    tools = {tool.name: tool for tool in client.list_tools().tools}
    assert {
        "list_models",
        "rules",
        "predict",
        "explain",
        "counterfactual",
        "evaluate",
        "fit",
    } < set(tools)
    assert all(tool.description for tool in tools.values())
    assert tools["report_price"].meta["ui"]["resourceUri"] == "ui://frri/price"


def test_models_are_listed_with_the_columns_that_rows_need(client):
    risk, price = answer(client, "list_models")
    assert (risk["model"], risk["classes"], risk["n_rules"]) == ("risk model", ["low", "high"], 2)
    assert [column["name"] for column in risk["columns"]] == ["age", "smoker"]
    assert price["task"] == "regression"


def test_rules_are_the_sentences_of_the_library(client):
    assert answer(client, "rules", model="risk model")["text"] == str(RISK)


def test_predictions_equal_those_of_the_library(client):
    rows = [ROW, {"age": 30, "smoker": "no"}, {"age": None, "smoker": "never seen"}]
    found = answer(client, "predict", model="risk model", rows=rows)
    matrix = [[70, "yes", None], [30, "no", None], [None, "never seen", None]]
    assert [one["prediction"] for one in found] == RISK.predict(matrix).tolist()
    shares = [list(one["probabilities"].values()) for one in found]
    assert shares == RISK.predict_proba(matrix).tolist()
    assert found[0]["rule_text"] == str(RISK).splitlines()[0]
    assert answer(client, "predict", model="price", rows=[{"rooms": 5}]) == [{"prediction": 260.0}]


def test_explanations_and_counterfactuals_equal_those_of_the_library(client):
    whole = RISK.explain(ROW | {"id": None})
    assert answer(client, "explain", model="risk model", row=ROW)["deciding"]["index"] == 0
    found = answer(client, "counterfactual", model="risk model", row=ROW)
    assert found["text"] == str(whole).splitlines()[-1]
    assert found["change"] == json.loads(json.dumps(whole.to_dict()["change"]))
    fixed = answer(
        client, "counterfactual", model="risk model", row=ROW, fixed=["age", "smoker", "id"]
    )
    assert fixed["unalterable"]
    reached = answer(client, "counterfactual", model="price", row={"rooms": 5}, at_least=270)
    assert reached["change"]["decision"] >= 270


def test_evaluation_is_that_of_the_command(client, folder, capsys):
    table = folder / "data" / "patients.csv"
    assert main(["evaluate", str(folder / "risk model.json"), str(table), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    found = answer(client, "evaluate", model="risk model", file="patients.csv")
    assert {name: found[name] for name in expected} == expected


def test_a_model_is_trained_saved_and_served(client, folder):
    found = answer(client, "fit", file="patients.csv", target="risk", model="new", learner="ripper")
    saved = RuleSet.load(folder / "data" / "new.json")
    assert found["rules"] == str(saved)
    frame = read_table(folder / "data" / "patients.csv")
    rows = json.loads(frame[["age", "smoker"]].head(5).to_json(orient="records"))
    predicted = [one["prediction"] for one in answer(client, "predict", model="new", rows=rows)]
    assert predicted == saved.predict(frame.head(5)).tolist()
    text = refusal(client, "fit", file="patients.csv", target="risk", model="new")
    assert "a model or file called 'new'; choose another name." in text


@pytest.mark.parametrize(
    "file", ["../secret.csv", "link.csv", "/etc/passwd", ".", "a\0b", "no.csv"]
)
def test_files_outside_the_folder_are_refused(client, folder, file):
    absolute = str(folder / "secret.csv") if file.startswith("/") else file
    text = refusal(client, "evaluate", model="risk model", file=absolute)
    assert "folder" in text
    assert "patients.csv" in text
    assert "in the folder" in refusal(client, "fit", file=absolute, target="risk", model="x")


def test_a_model_is_saved_in_the_folder_only(client, folder):
    for name in ("../outside", str(folder / "outside"), "sub/outside"):
        text = refusal(client, "fit", file="patients.csv", target="risk", model=name)
        assert "is not in the folder" in text or "must have no folder" in text
    assert not (folder / "outside.json").exists()


def test_bad_requests_get_one_sentence(client):
    assert "The server has no model 'rsk'" in refusal(client, "rules", model="rsk")
    text = refusal(client, "predict", model="risk model", rows=[{"age": 3}])
    assert text.endswith("The row has no value for 'smoker'; give null if it is missing.")
    assert "'agee'" in refusal(
        client, "explain", model="risk model", row={"agee": 3, "smoker": "no"}
    )
    text = refusal(client, "evaluate", model="price", file="patients.csv")
    assert "rooms" in text


def test_the_report_is_a_resource_and_an_app(client):
    page = client.read_resource("frri://report/price").contents[0]
    assert page.mime_type == "text/html"
    assert page.text.startswith("<!doctype html>")
    app = client.read_resource("ui://frri/price").contents[0]
    assert app.mime_type == "text/html;profile=mcp-app"
    assert app.text == page.text
    from mcp import MCPError

    with pytest.raises(MCPError, match="no model"):
        client.read_resource("frri://report/other")


def test_bad_arguments_are_refused_before_anything_is_served(folder, capsys):
    model = str(folder / "price.json")
    for arguments, problem in (
        ([], "Name a model to serve"),
        ([model, model], "Two models are called 'price'"),
        (["-"], "standard input"),
        ([model, "--folder", str(folder / "none")], "There is no folder"),
    ):
        assert main(["mcp", *arguments]) == 2
        assert problem in capsys.readouterr().err


def test_without_the_extra_the_error_names_it(monkeypatch, folder, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp", str(folder / "price.json")]) == 2
    assert "pip install 'frri[mcp]'" in capsys.readouterr().err


def test_infinite_ranges_are_null(tmp_path):
    from anyio.from_thread import start_blocking_portal
    from mcp import Client

    rule = Rule((NumericCondition.below("age", 30),), "no")
    RuleSet((rule,), (Attribute("age"),), ("no", "yes")).save(tmp_path / "free.json")

    async def ask():
        async with Client(make_server([str(tmp_path / "free.json")])) as client:
            return (await client.call_tool("list_models", {})).structured_content

    with start_blocking_portal() as portal:
        [model] = portal.call(ask)["result"]
    assert model["columns"] == [{"name": "age", "kind": "numeric", "values": [None, None]}]


def test_without_a_folder_no_file_can_be_used(folder):
    served = ServedModels([str(folder / "price.json")])
    assert list(served.rulesets) == ["price"]
