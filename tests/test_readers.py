"""Tables from files, and types of their columns."""

import bz2
import datetime as dt
import gzip
import io
import lzma
import re
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from call_counts import calls
from frri.readers import files, read_table
from frri.readers.arff import read_arff
from frri.readers.delimited import read_delimited
from frri.readers.infer_types import (
    NA_VALUES,
    ReadOptions,
    resolve_words,
    to_strings,
)
from frri.readers.training import join_tables, split_training
from frri.table import encode_frame, to_matrix
from frri.table.columns import kind_of
from frri.table.encode import summarize_table
from thorough import often


def describe_frame(frame):
    return encode_frame(frame).attributes


NAN = float("nan")


def read(content, **options):
    data = content.encode() if isinstance(content, str) else content
    return read_delimited(data, "x.csv", ReadOptions(**options))


def columns(frame):
    """Values by column, None where missing."""
    return {
        name: [None if pd.isna(v) else v for v in values.tolist()] for name, values in frame.items()
    }


# ------------------------------------------------------------------ separated values


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_encodings_and_line_ends_are_recognised(separator, encoding, newline):
    lines = ["größe", "1.5", "2"], ["farbe", "weiß", "grün"]
    text = newline.join(separator.join(row) for row in zip(*lines, strict=True)) + newline
    frame = read(text.encode(encoding))
    assert columns(frame) == {"größe": [1.5, 2.0], "farbe": ["weiß", "grün"]}


def test_old_line_ends_before_spaces_do_not_confuse_the_parser():
    assert columns(read("a,b\r 1,2\r 3,4\r")) == {"a": [1, 3], "b": [2, 4]}


def test_values_parted_by_spaces():
    assert columns(read("a b\n1 2\n3   4\n")) == {"a": [1, 3], "b": [2, 4]}


def test_a_single_column_of_sentences_stays_one():
    assert columns(read("my words\nsome\nsome more of them\n")) == {
        "my words": ["some", "some more of them"]
    }


def test_a_spreadsheet_may_announce_its_separator():
    assert columns(read("sep=;\r\na;b\r\n1;x,y\r\n")) == {"a": [1], "b": ["x,y"]}


def test_quotation_marks_protect_everything():
    frame = read('a,"b, or\nso"\n1,"x ""y"",\nz"\n2,"?x"\n')
    assert columns(frame) == {"a": [1, 2], "b, or\nso": ['x "y",\nz', "?x"]}


def test_decimal_commas():
    frame = read("a;b;c\n1,5;x;1.5\n-2;y;2\n,5;z;3e2\n")
    assert columns(frame) == {"a": [1.5, -2.0, 0.5], "b": ["x", "y", "z"], "c": [1.5, 2, 300]}


@pytest.mark.parametrize(
    "written",
    [
        lambda values: read("a,b\n" + "".join(f"{v!r},x\n" for v in values)),
        lambda values: read("a;b\n" + "".join(f"{v!r};x\n" for v in values).replace(".", ",")),
        lambda values: read("a,b\n?,x\n ? ,x\n" + "".join(f"{v!r} ,x\n" for v in values))[2:],
        lambda values: (
            read_arff(
                "@relation r\n@attribute a real\n@data\n" + "".join(f"{v!r}\n" for v in values)
            ).frame
        ),
    ],
    ids=["CSV", "decimal commas", "with gaps", "KEEL"],
)
def test_numbers_are_read_to_the_last_bit(written):
    """A database that reads the same file has the same thresholds."""
    random = np.random.default_rng(0)
    values = [*random.normal(40, 15, 2000).tolist(), *(10.0 ** random.uniform(-9, 9, 500)).tolist()]
    assert written(values)["a"].tolist() == values


def test_commas_in_comma_separated_files_are_not_decimal():
    assert columns(read('a,b\n"1,234",x\n"2,5",y\n'))["a"] == ["1,234", "2,5"]


@pytest.mark.parametrize("mark", NA_VALUES)
def test_marks_of_missing_values(mark):
    frame = read(f"a,b,c\n1,x,2020-01-01\n{mark} , {mark},{mark}\n2,y,2020-01-02\n")
    assert [dtype.kind for dtype in frame.dtypes] == ["f", "O", "M"]
    assert frame.isna().to_numpy().tolist() == [[False] * 3, [True] * 3, [False] * 3]


def test_a_column_without_values_is_numeric():
    assert read("a,b\n,1\n,2\n")["a"].dtype == float


def test_dates_are_dates_with_and_without_time_and_zone():
    frame = read("d,t,z,n\n2020-02-29,2020-01-01 10:30,2020-01-01T10:30:00+02:00,2021-02-29\n")
    assert [dtype.kind for dtype in frame.dtypes] == ["M", "M", "M", "O"]
    assert str(frame["z"][0]) == "2020-01-01 08:30:00"


def test_booleans_stay_booleans():
    frame = read("a,b\ntrue,True\nFALSE,\n")
    assert columns(frame) == {"a": [True, False], "b": [True, None]}
    assert describe_frame(frame)[0].categories == ("False", "True")


def test_columns_of_strings_keep_their_form():
    known = {"zip": (), "country": ["NA", "DE"], "ok": ["False", "True"], "absent": ["x"]}
    frame = read(
        "zip,country,ok,n\n01234,NA,true,1\n?,DE,FALSE,NA\n99,?,perhaps,2\n", strings=known
    )
    assert columns(frame) == {
        "zip": ["01234", None, "99"],
        "country": ["NA", "DE", None],
        "ok": ["True", "False", "perhaps"],
        "n": [1.0, None, 2.0],
    }


def test_a_separator_at_the_end_of_every_line_makes_no_column():
    assert columns(read("a,b,\n1,2,\n3,4,\n")) == {"a": [1, 3], "b": [2, 4]}


def test_numbers_too_large_for_integers_are_still_numbers():
    assert read("a\n123456789012345678901234567890\n1\n")["a"].dtype == float


def test_missing_values_at_the_end_of_rows_are_no_short_rows():
    assert columns(read('a,b\n1,\n"x\ny",2\n')) == {"a": ["1", "x\ny"], "b": [None, 2.0]}


@pytest.mark.parametrize("values", ["numbers", "texts"])
def test_thousands_of_columns_take_work_in_proportion(values):
    cell = {"numbers": "0.25", "texts": "x"}[values]

    def text(n):
        return ",".join(f"c{i}" for i in range(n)) + "\n" + (",".join([cell] * n) + "\n") * 50

    assert read(text(2000)).shape == (50, 2000)
    few, many = (calls(lambda n=n: read(text(n))) for n in (100, 400))
    assert many < 4.5 * few


cells = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1
).filter(lambda text: text == text.strip() and not text.startswith("\ufeff"))


@given(
    st.lists(st.tuples(st.integers(-(10**9), 10**9), cells), min_size=2, max_size=6),
    st.sampled_from(",;\t|"),
)
@settings(max_examples=often(120), deadline=None)
def test_files_of_pandas_are_read_back(rows, separator):
    frame = pd.DataFrame({"n": [n for n, _ in rows], "t": [f"_{t}" for _, t in rows]})
    found = read(frame.to_csv(index=False, sep=separator))
    assert columns(found) == columns(frame)


@given(
    st.binary(max_size=200)
    | st.text(st.sampled_from(",;\t| \"'\n\r?@%{}ab1-."), max_size=40).map(str.encode)
    | st.text(st.sampled_from(",'\" \n?%{}ab1"), max_size=20).map(
        lambda data: f"@relation r\n@attribute a real\n@attribute b {{a}}\n@data\n{data}".encode()
    )
)
@settings(max_examples=often(300), deadline=None)
def test_any_bytes_are_a_table_or_a_sentence(content):
    for suffix in ("csv", "arff", "parquet"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read_any(content, suffix)
        except ValueError as error:
            assert str(error).startswith("x.")  # noqa: PT017


def read_any(content, suffix):
    from frri.readers import files
    from frri.readers.files import read_parquet

    if suffix == "csv":
        read_delimited(content, "x.csv", ReadOptions())
    elif suffix == "parquet":
        read_parquet(content, "x.parquet", ReadOptions())
    else:
        files._read_arff(content, "x.arff", ReadOptions())


# ------------------------------------------------------------------ messy tables


@pytest.mark.parametrize(
    "text",
    [
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_csv(),
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=["p", "q"]).to_csv(),
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[0, 0]).to_csv(sep=";"),
        '"","a","b"\n"1",1,"x"\n"2",2,"y"\n',
        "Unnamed: 0,a,b\n0,1,x\n1,2,y\n",
    ],
    ids=["pandas", "names", "put together", "R", "pandas twice"],
)
def test_an_index_without_a_name_is_left_out_with_a_note(text):
    with pytest.warns(UserWarning, match="x.csv: the first column has no name and numbers"):
        assert columns(read(text)) == {"a": [1, 2], "b": ["x", "y"]}


def test_a_first_column_without_a_name_that_is_no_index_needs_one():
    with pytest.raises(ValueError, match=r"x\.csv: column 1 has no name; give"):
        read(",a\nred,1\nblue,2\nred,3\n")


def test_columns_with_neither_name_nor_values_are_none():
    assert columns(read("a,,b,,\n1,,2,,\n3,,4,,\n")) == {"a": [1, 3], "b": [2, 4]}


def test_repeated_names_get_a_number_and_a_note():
    with pytest.warns(UserWarning, match=r"more than one column 'a'; a later one is called 'a.\d'"):
        assert columns(read("a,a,a.1,a\n1,2,3,4\n")) == {
            "a": [1], "a.2": [2], "a.1": [3], "a.3": [4],
        }  # fmt: skip


@pytest.mark.parametrize("blank", [None, NAN, pd.NA, ""], ids=["None", "NaN", "NA", "empty"])
def test_a_column_of_strings_may_be_mostly_blank(blank, tmp_path):
    values = ["C85", blank, blank, blank, "B2", blank, blank, blank, blank]
    frame = pd.DataFrame({"cabin": values, "n": range(9)})
    frame.to_csv(tmp_path / "x.csv", index=False)
    found = read_table(tmp_path / "x.csv")
    resolve_words(found, strict=True)
    for table in (found, frame.replace("", None)):
        assert describe_frame(table)[0].categories == ("B2", "C85")


def test_the_user_names_marks_of_missing_values(tmp_path):
    text = "a,b,c\n1,x,1.5\n-999,unknown ,-999.0\nunknown,-999,2\n"
    expected = {"a": [1.0, None, None], "b": ["x", None, None], "c": [1.5, None, 2.0]}
    assert columns(read(text, na_values=["-999", "unknown"])) == expected
    table = pa.table({"a": [1, -999], "b": ["x", "unknown"]})
    pq.write_table(table, tmp_path / "x.parquet")
    found = read_table(tmp_path / "x.parquet", na_values=["-999", "unknown"])
    assert columns(found) == {"a": [1.0, None], "b": ["x", None]}


def test_known_values_are_no_marks():
    assert columns(read("a\nNone\nx\n", strings={"a": ["None", "x"]})) == {"a": ["None", "x"]}


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("a\n45%\n7.5 %\n\n-3%\n", [45.0, 7.5, -3.0], "percentages: '45%' is read as 45"),
        ('a,b\n"$1,200",1\n$3.50,2\n-$7,3\n', [1200.0, 3.5, -7.0], "money: '$1,200' is read as 1200"),
        ("a;b\n1.200,50 €;1\n3 €;2\n", [1200.5, 3.0], "money: '1.200,50 €' is read as 1200.5"),
        ("a;b\n12,5%;1\n7%;2\n", [12.5, 7.0], "percentages"),
        ('a,b\n"1,234",x\n"25,000,000",y\n7,z\n', [1234.0, 25e6, 7.0], "marks of thousands"),
        ("a;b\n1.234,5;x\n7;y\n", [1234.5, 7.0], "marks of thousands"),
        ("a,b\n08:30,x\n14:15:36,y\n", [8.5, 14.26], "times of day, as hours: '08:30' is read as 8.5"),
    ],
)  # fmt: skip
def test_formatted_numbers_are_numbers_with_a_note(text, values, message):
    with pytest.warns(UserWarning, match=f"Column 'a' holds .*{re.escape(message)}"):
        found = read(text)["a"].dropna()
    assert found.tolist() == pytest.approx(values)


@pytest.mark.parametrize(
    "values", [["45%", "0.4"], ["$5", "5 €"], ["25:30", "8:15"], ["2:1", "3:1"], ["12%", "x%"]]
)
def test_ambiguous_values_stay_strings(values):
    assert read("a\n" + "\n".join(values) + "\n")["a"].tolist() == values


def test_declared_strings_are_never_formatted_numbers():
    assert read("a\n45%\n", strings={"a": ["45%"]})["a"].tolist() == ["45%"]


@pytest.mark.parametrize(
    ("written", "near", "day"),
    [
        ("9999-12-31", "2020-01-31", dt.date(9999, 12, 31)),
        ("0001-01-01", "2020-01-31", dt.date(1, 1, 1)),
        ("9999-12-31T23:00:00Z", "2020-01-31T05:30:00+05:30", dt.date(9999, 12, 31)),
        ("31.12.9999", "31.1.2020", dt.date(9999, 12, 31)),
    ],
)
def test_dates_that_are_far_away_are_dates_and_may_mark_missing_values(written, near, day):
    content = f"d,n\n{near},1\n{written},2\n,3\n"
    message = re.escape(f"'d' holds '{written}' among dates; if it marks a missing value, type")
    with pytest.warns(UserWarning, match=f"{message} --na-values {written}"):
        frame = read(content)
    assert kind_of(frame["d"]) == "date"
    found = encode_frame(frame).matrix[:, 0]
    assert found[0] == dt.date(2020, 1, 31).toordinal() - dt.date(1970, 1, 1).toordinal()
    assert int(found[1]) == day.toordinal() - dt.date(1970, 1, 1).toordinal()
    assert np.isnan(found[2])
    assert read(content, na_values=[written])["d"].isna().tolist() == [False, True, True]


def test_tables_with_dates_near_and_far_are_joined():
    with pytest.warns(UserWarning, match="9999"):
        frames = {year: read(f"d\n{year}-01-31\n") for year in ("2020", "9999")}
    assert join_tables(frames)["d"].dt.year.tolist() == [2020, 9999]


@pytest.mark.parametrize(
    "written", ["31.12.2024\n1.2.2025", "12/31/2024\n02/01/2025", "31-12-2024\n01-02-2025",
                "2024/12/31\n2025/02/01", "31/12/2024 00:00\n01/02/2025 00:00"],
)  # fmt: skip
def test_dates_of_other_countries_are_dates_where_one_reading_fits(written):
    found = read(f"d\n{written}\n")["d"]
    assert found.tolist() == [pd.Timestamp("2024-12-31"), pd.Timestamp("2025-02-01")]


def test_dates_that_may_be_read_in_two_ways_or_none_stay_strings():
    with pytest.warns(UserWarning, match="'03/04/2024', of which day and month are ambiguous"):
        assert read("d\n03/04/2024\n05/06/2024\n")["d"].tolist() == ["03/04/2024", "05/06/2024"]
    assert read("d\n31.12.2024\n32.12.2024\n")["d"].tolist() == ["31.12.2024", "32.12.2024"]


def test_comments_above_the_header_are_passed_over():
    text = "# made by a machine\n#\n# 1, 2, 3, 4\n\na,b\n1,2\n"
    assert columns(read(text)) == {"a": [1], "b": [2]}
    assert columns(read("#id,b\n1,2\n")) == {"#id": [1], "b": [2]}


# ------------------------------------------------------------------ other formats

ARFF = """% a comment
@RELATION 'wine list'
@attribute 'the price' NUMERIC
@attribute colour {red, 'light, white', 1}
@attribute note string
@attribute bought date "yyyy-MM-dd"
@data
% another
12.5, red, 'it\\'s fine, really', 2020-01-31
?, 'light, white', ?, ?
3,1,"say no",2021-01-01
"""


def test_arff(tmp_path):
    (tmp_path / "x.arff").write_text(ARFF)
    frame = read_table(tmp_path / "x.arff")
    assert columns(frame) == {
        "the price": [12.5, None, 3.0],
        "colour": ["red", "light, white", "1"],
        "note": ["it's fine, really", None, "say no"],
        "bought": [pd.Timestamp("2020-01-31"), None, pd.Timestamp("2021-01-01")],
    }


def test_keel_headers_declare_outputs():
    table = read_arff(
        "@relation r\n@attribute a integer [0, 9]\n@attribute c{x,y}\n@outputs c\n@data\n1,x\n<null>,y\n"
    )
    assert (table.inputs, table.outputs) == (("a",), ("c",))
    assert columns(table.frame) == {"a": [1.0, None], "c": ["x", "y"]}


def test_parquet_keeps_its_kinds(tmp_path):
    content = {
        "n": pa.array([1, None]),
        "decimal": pa.array([Decimal("1.5"), None]),
        "text": pa.array(["x", None]),
        "flag": pa.array([True, None]),
        "day": pa.array([dt.date(2020, 1, 31), None]),
        "zoned": pa.array([dt.datetime(2020, 1, 31, 12, tzinfo=dt.UTC), None]),
        "size": pa.DictionaryArray.from_arrays([1, None], ["S", "L"], ordered=True),
    }
    pq.write_table(pa.table(content), tmp_path / "x.parquet")
    kinds = {a.name: a.kind for a in describe_frame(read_table(tmp_path / "x.parquet"))}
    assert kinds == {
        "n": "numeric", "decimal": "numeric", "text": "nominal", "flag": "nominal",
        "day": "date", "zoned": "date", "size": "ordinal",
    }  # fmt: skip


def test_a_named_index_of_parquet_is_a_column(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="id"))
    frame.to_parquet(tmp_path / "x.parquet")
    assert columns(read_table(tmp_path / "x.parquet")) == {"id": ["x", "y"], "a": [1, 2]}
    frame.rename_axis(None).to_parquet(tmp_path / "x.parquet")
    assert columns(read_table(tmp_path / "x.parquet")) == {"a": [1, 2]}


@pytest.mark.parametrize(
    "metadata", [b"{", b"\xff", b"5", b"{}", b'{"index_columns": [{"kind": 1}]}']
)
def test_damaged_metadata_of_pandas_are_ignored(metadata, tmp_path):
    table = pa.table({"a": [1, 2], "b": pa.array(["x", None])})
    pq.write_table(table.replace_schema_metadata({"pandas": metadata}), tmp_path / "x.parquet")
    assert columns(read_table(tmp_path / "x.parquet")) == {"a": [1, 2], "b": ["x", None]}
    assert [len(batch.frame) for batch in files.read_batches(tmp_path / "x.parquet")] == [2]


PEOPLE = pd.DataFrame(
    {
        "age": [31.5, None, 7.0],
        "job": ["nurse", None, "clerk"],
        "born": pd.to_datetime(["1994-05-17", "1990-01-02", None]),
        "ok": [True, False, True],
    }
)
WRITERS = {
    "x.json": lambda path: PEOPLE.astype({"born": str}).to_json(path, orient="records"),
    "x.jsonl": lambda path: PEOPLE.astype({"born": str}).to_json(
        path, orient="records", lines=True
    ),
    "x.parquet": PEOPLE.to_parquet,
    "x.xlsx": lambda path: PEOPLE.to_excel(path, index=False),
    "x.ods": lambda path: PEOPLE.to_excel(path, index=False, engine="odf"),
    "x.csv.gz": lambda path: PEOPLE.to_csv(path, index=False),
    "x.csv.bz2": lambda path: PEOPLE.to_csv(path, index=False),
    "x.csv.xz": lambda path: PEOPLE.to_csv(path, index=False),
    "x.csv.zst": lambda path: path.write_bytes(
        pa.compress(PEOPLE.to_csv(index=False).encode(), codec="zstd", asbytes=True)
    ),
    "x.jsonl.gz": lambda path: PEOPLE.astype({"born": str}).to_json(
        path, orient="records", lines=True
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_table(name, tmp_path):
    WRITERS[name](tmp_path / name)
    found = read_table(tmp_path / name)
    assert columns(found) == columns(PEOPLE)
    kinds = [a.kind for a in describe_frame(found)]
    assert kinds == ["numeric", "nominal", "date", "nominal"]


DAMAGED = gzip.compress(b"a,b\n1,2\n", mtime=0)[:10] + b"\xff" * 30


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.csv.gz", b"a,b\n", "x.csv.gz is not compressed as its ending '.gz' says, or damaged."),
        ("x.csv.gz", DAMAGED, "x.csv.gz is not compressed as its ending '.gz' says, or damaged."),
        ("x.csv.zst", b"a,b\n", "x.csv.zst is not compressed as its ending"),
        ("x.gz", b"", "x.gz: cannot tell the format from the ending ''"),
        ("x.xlsx", b"a,b\n", "x.xlsx is not a spreadsheet, or a damaged one."),
        ("x.parquet", b"a,b\n", "x.parquet is not a Parquet file, or a damaged one."),
        ("x.json", b"{", "x.json is not JSON."),
        ("x.json", b"[1, 2]", "x.json is neither a list of objects nor an object of lists."),
        ("x.json", b'[{"a": [1]}]', "x.json: column 'a' holds lists or objects"),
        ("x.json", b'{"a": [1], "b": []}', "x.json: the columns are of different lengths."),
        ("x.json", b"[]", "x.json has no rows."),
    ],
)
def test_other_files_get_a_sentence(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_table(tmp_path / name)


TOO_LARGE = "holds more than .* GiB decompressed, the maximum; delete what is not part of the table"


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.csv.bz2", "x.csv.xz", "x.csv.zst", "-"])
def test_nothing_is_read_beyond_the_maximum_size(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = b"a,b\n" + b"1,2\n" * 100_000
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    pack[".zst"] = lambda content: pa.compress(content, codec="zstd", asbytes=True)
    packed = pack.get(Path(name).suffix, bytes)(content)
    stream = io.BytesIO(packed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    Path(name).write_bytes(packed)
    monkeypatch.setattr(files, "STRETCH", 1 << 10)
    monkeypatch.setattr(files, "MOST_BYTES", len(content) - 1)
    with pytest.raises(ValueError, match=TOO_LARGE):
        read_table(name)
    monkeypatch.setattr(files, "MOST_BYTES", len(content))
    stream.seek(0)
    assert len(read_table(name)) == 100_000


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_devices_are_not_read_without_end(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="zero: cannot tell the format from the ending ''"):
        read_table("/dev/zero")
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 24)
    (tmp_path / "x.csv").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=f"x.csv {TOO_LARGE}"):
        read_table(tmp_path / "x.csv")


def test_spreadsheets_are_measured_before_their_cells_are_allocated(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    book.active["XFD1048576"].number_format = "0.00"  # an empty cell takes no memory
    book.create_sheet()["XFD1048576"] = 1  # nor does another sheet
    book.worksheets[1]["A1"] = 1
    book.save(tmp_path / "x.xlsx")
    assert columns(read_table(tmp_path / "x.xlsx")) == {"a": [1], "b": [2]}
    book.active["XFD1048576"] = 1
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(ValueError, match=f"x.xlsx {TOO_LARGE}"):
        read_table(tmp_path / "x.xlsx")


@pytest.mark.parametrize("bomb", [False, True])
def test_cells_without_places_are_counted(bomb, tmp_path, monkeypatch):
    pd.DataFrame({"a": range(2000), "b": range(2000)}).to_excel(tmp_path / "x.xlsx", index=False)
    with ZipFile(tmp_path / "x.xlsx") as old:
        parts = {name: old.read(name) for name in old.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = re.sub(rb' r="[A-Z]*\d+"', b"", parts[sheet])
    monkeypatch.setattr(files, "CELL_BYTES", 1 << 20 if bomb else 32)
    with ZipFile(tmp_path / "x.xlsx", "w") as new:
        for name, part in parts.items():
            new.writestr(name, part)
    if bomb:
        with pytest.raises(ValueError, match=f"x.xlsx {TOO_LARGE}"):
            read_table(tmp_path / "x.xlsx")
    else:
        assert len(read_table(tmp_path / "x.xlsx")) == 2000


@pytest.mark.parametrize("bomb", [False, True])
def test_documents_are_measured_with_their_repeated_rows(bomb, tmp_path):
    pd.DataFrame({"a": [1], "b": [2]}).to_excel(tmp_path / "x.ods", index=False, engine="odf")
    with ZipFile(tmp_path / "x.ods") as old:
        parts = {name: old.read(name) for name in old.namelist()}
    cell = b'<table:table-cell table:number-columns-repeated="16384"%s/></table:table-row>'
    value = b' office:value-type="float" office:value="1"' if bomb else b""
    row = b'<table:table-row table:number-rows-repeated="1048574">' + cell % value
    parts["content.xml"] = parts["content.xml"].replace(b"</table:table>", row + b"</table:table>")
    with ZipFile(tmp_path / "x.ods", "w") as new:
        for name, part in parts.items():
            new.writestr(name, part)
    if bomb:
        with pytest.raises(ValueError, match=f"x.ods {TOO_LARGE}"):
            read_table(tmp_path / "x.ods")
    else:  # as programs write the empty rest of a sheet
        assert columns(read_table(tmp_path / "x.ods")) == {"a": [1], "b": [2]}


def test_parquet_is_measured_by_its_rows_and_columns(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": np.zeros(1000), "b": np.zeros(1000)}), tmp_path / "x.parquet")
    monkeypatch.setattr(files, "MOST_BYTES", 15_999)
    with pytest.raises(ValueError, match=f"x.parquet {TOO_LARGE}"):
        read_table(tmp_path / "x.parquet")
    monkeypatch.setattr(files, "MOST_BYTES", 16_000)
    assert len(read_table(tmp_path / "x.parquet")) == 1000


@pytest.mark.parametrize("kind", ["csv", "arff", "parquet", "json"])
def test_standard_input_is_recognised(kind, monkeypatch):
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1.0]}), sink)
    content = {
        "csv": b"a\n1.0\n",
        "arff": b"% note\n\n@relation r\n@attribute a real\n@data\n1\n",
        "parquet": sink.getvalue(),
        "json": b'[{"a": 1.0}]',
    }[kind]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert columns(read_table("-")) == {"a": [1.0]}


# ------------------------------------------------------------------ types of columns

DAY = dt.date(2020, 1, 1)
MIXED = {
    "n": [1, None, 3],
    "decimal": [Decimal("1.5"), None, None],
    "text": ["x", None, "y"],
    "flag": [True, None, False],
    "day": [DAY, None, dt.date(2020, 1, 3)],
    "zoned": [dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC), None, None],
}
FRAMES = {
    "pandas": pd.DataFrame(MIXED),
    "pandas with extension types": pd.DataFrame(MIXED).convert_dtypes(),
    "pandas with Arrow types": pd.DataFrame(MIXED).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(MIXED),
    "polars, lazy": pl.DataFrame(MIXED).lazy(),
    "Arrow": pa.table(MIXED),
}


@pytest.mark.parametrize("name", FRAMES)
def test_kinds_and_values_are_the_same_in_every_library(name):
    attributes = describe_frame(FRAMES[name])
    assert [(a.name, a.kind) for a in attributes] == [
        ("n", "numeric"), ("decimal", "numeric"), ("text", "nominal"),
        ("flag", "nominal"), ("day", "date"), ("zoned", "date"),
    ]  # fmt: skip
    np.testing.assert_array_equal(
        to_matrix(FRAMES[name], attributes),
        [[1, 1.5, 0, 1, 18262, 18262.5], [NAN] * 6, [3, NAN, 1, 0, 18264, NAN]],
    )


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Categorical(["x", None, "y"], ["z", "y", "x"], ordered=True)}),
        pl.DataFrame({"a": pl.Series(["x", None, "y"], dtype=pl.Enum(["z", "y", "x"]))}),
        pa.table(
            {"a": pa.DictionaryArray.from_arrays([2, None, 1], ["z", "y", "x"], ordered=True)}
        ),
    ],
    ids=["pandas", "polars", "Arrow"],
)
def test_ordered_categories_are_ordinal(frame):
    attributes = describe_frame(frame)
    assert (attributes[0].kind, attributes[0].categories) == ("ordinal", ("z", "y", "x"))
    np.testing.assert_array_equal(to_matrix(frame, attributes)[:, 0], [2, NAN, 1])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Categorical([1, None, 2])}),
        pl.DataFrame({"a": pl.Series(["1", None, "2"], dtype=pl.Categorical)}),
        pa.table({"a": pa.DictionaryArray.from_arrays([0, None, 1], ["1", "2"])}),
    ],
    ids=["pandas", "polars", "Arrow"],
)
def test_categories_are_nominal_even_if_they_look_like_numbers(frame):
    attributes = describe_frame(frame)
    assert (attributes[0].kind, attributes[0].categories) == ("nominal", ("1", "2"))
    np.testing.assert_array_equal(to_matrix(frame, attributes)[:, 0], [0, NAN, 1])
    numbers = pd.DataFrame({"a": [1.0, None, 3.0]})  # the type in other readers
    np.testing.assert_array_equal(to_matrix(numbers, attributes)[:, 0], [0, NAN, -1])


def test_numbers_are_no_dates_and_dates_no_numbers():
    day = describe_frame(pd.DataFrame({"d": [DAY]}))
    with pytest.raises(ValueError, match="'d' does not hold dates"):
        to_matrix(pd.DataFrame({"d": [20200101]}), day)
    number = describe_frame(pd.DataFrame({"d": [1]}))
    with pytest.raises(ValueError, match="'d' holds dates or durations, which are not numbers"):
        to_matrix(pd.DataFrame({"d": pd.to_datetime([DAY])}), number)
    np.testing.assert_array_equal(to_matrix(pd.DataFrame({"d": [None]}), day), [[NAN]])
    np.testing.assert_array_equal(to_matrix([["2020-01-02"], [None]], day), [[18263], [NAN]])


def test_durations_are_refused_by_name():
    frame = pd.DataFrame({"late": pd.to_timedelta([1, 2], unit="h")})
    with pytest.raises(ValueError, match="'late' holds values of the type timedelta"):
        describe_frame(frame)


def test_the_user_decides_about_kinds():
    frame = pd.DataFrame({"id": [1, 2], "code": [7, 8], "size": ["S", "L"], "grade": [2.0, 1.0]})
    orders = {"size": ["S", "M", "L"], "grade": ["1", "2"]}
    kinds = {"nominal": ["code"], "ordinal": orders, "ignore": ["id"]}
    found, _, _ = split_training(frame.assign(y=[0, 1]), "t", "y", **kinds)
    assert [(a.kind, a.categories) for a in describe_frame(found)] == [
        ("nominal", ("7", "8")), ("ordinal", ("S", "M", "L")), ("ordinal", ("1", "2")),
    ]  # fmt: skip


def test_kinds_are_shown():
    frame = pd.DataFrame({**MIXED, "size": ["S", "L", None], "y": [0, 1, 1]})
    frame, _, _ = split_training(frame, "t", "y", ordinal={"size": ["S", "L"]})
    assert summarize_table(encode_frame(frame)) == (
        "3 rows, 7 columns: 2 numeric, 2 date (day, zoned), 1 ordinal (size: S < L), "
        "2 nominal (text: 2 values, flag: 2 values); 9 missing values"
    )


@pytest.mark.parametrize("dtype", [object, "string"])
def test_identifiers_and_mistakes_are_pointed_out_unless_the_user_insists(dtype):
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(30)], "a": range(30), "y": [0, 1] * 15})
    frame["name"] = frame["name"].astype(dtype)  # strings have a type of their own in pandas 3
    with pytest.warns(
        UserWarning,
        match=r"'name' looks like an identifier \(30 distinct.*keep it with --nominal name",
    ):
        assert list(split_training(frame, "t", "y")[0].columns) == ["a"]
    assert list(split_training(frame, "t", "y", nominal=["name"])[0].columns) == ["name", "a"]
    with pytest.raises(
        ValueError, match=r"'name' looks like an identifier \(30 distinct.*--nominal name"
    ):
        split_training(frame, "t", "y", ignore=["a"])
    codes = pd.DataFrame({"code": ["1", "2", "A", "B"] * 9})
    resolve_words(codes, strict=True)  # as many letters as numbers are no mistake


@pytest.mark.parametrize("start", [2**53, 10**18, 10**30])
@pytest.mark.parametrize("gap", [False, True])
def test_integers_that_are_equal_in_floating_point_are_refused(start, gap):
    values = [start, None if gap else start + 3, start + 1, start + 4]
    text = "".join(f"{'' if v is None else v},1\n" for v in values)
    objects = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    tables = [objects] if gap and start < 2**64 else [objects, read(f"a,b\n{text}")]
    for frame in tables:
        with pytest.raises(
            ValueError, match=rf"'a' holds {start} and {start + 1}, which are the same"
        ):
            encode_frame(frame)
    far = read("".join(["a,b\n", *(f"{10**k},1\n" for k in (5, 20, 30))]))
    assert encode_frame(far).matrix[:, 0].tolist() == [1e5, 1e20, 1e30]


def test_strings_of_numbers_lose_no_digits():
    assert to_strings(pd.Series([0.1, 1e22, None, 3.0])).tolist() == [
        "0.1", "10000000000000000000000", None, "3",
    ]  # fmt: skip


def test_a_column_without_numbers_cannot_be_declared_numeric():
    frame = pd.DataFrame({"sex": ["f", "m", "f"]})
    with pytest.raises(
        ValueError, match="'sex' contains strings such as 'f', not numbers; leave out"
    ):
        resolve_words(frame, numeric=["sex"])
