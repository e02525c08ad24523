"""A file format that is registered in one place is found everywhere; so are engines and kinds of hierarchies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.engines.descriptor import ENGINES, EngineDescriptor, engine_words, release_forms
from hedgerow.engines.local import LocalEngine
from hedgerow.microdata import read_table
from hedgerow.microdata.parsing.formats.csv import open_csv
from hedgerow.outside.sandbox import running
from hedgerow.plan import DataFormat, Method
from hedgerow.plan.formats import FILE_FORMATS, PACKED, FormatDescriptor, by_ending, table_endings
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.model import HierarchySpec
from hedgerow.plan.schema import plan_schema
from hedgerow.studio.components.hierarchy_builder import kinds
from hedgerow.studio.settings import Settings
from hedgerow.verification.reading.formats import FORMATS
from tests.docs.tables import engines, file_formats

PLAN = {
    "attributes": {"ward": "quasi-identifier", "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10]}}},
    "privacy": {"k": 2},
}
PEOPLE = "ward|age\n" + "a|31\na|37\nb|45\nb|44\n" * 3
BARS = FormatDescriptor(
    name="bars",
    title="Bars",
    help="a table of a test",
    order=15,
    endings=(".bars",),
    opened=open_csv,
    options=("encoding",),
    settings={"delimiter": "|"},
)
LINES = """
from dataclasses import dataclass
from hedgerow.plan.formats import FormatDescriptor

@dataclass(frozen=True)
class Lines:
    form: object
    texts: list
    rows: None = None
    unpacked: int = 0

    @property
    def schema(self):
        import pyarrow as pa
        return pa.schema([("ward", pa.string()), ("age", pa.string())])

    def read(self, wanted):
        import pyarrow as pa
        return pa.table({name: [text.split()[at] for text in self.texts]
                         for at, name in enumerate(self.schema.names) if name in wanted})

    def batches(self, wanted):
        return self.read(wanted).to_batches()

def open_lines(path, form):
    return Lines(form, path.read_text().splitlines())

DESCRIPTOR = FormatDescriptor("lines", "Lines", "of another module", 90, (".lines",), open_lines)
"""


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Iterator[FormatDescriptor]:
    monkeypatch.setitem(FORMATS, "bars", FORMATS["csv"])  # the verifier's own reader
    with FILE_FORMATS.registered(BARS):
        yield BARS


def help_of(*words: str) -> str:
    found = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "240"})
    assert found.exit_code == 0
    return found.stdout


@pytest.mark.usefixtures("bars")
def test_a_new_format_is_a_word_of_plans() -> None:
    choice = plan_schema()["$defs"]["DataFormat"]["properties"]["format"]["anyOf"][0]
    assert choice["enum"] == ["csv", "bars", "parquet", "arrow", "excel", "spss", "stata", "sas"]
    assert hr.Plan.from_dict({**PLAN, "data": {"format": "bars"}}).data.format == "bars"
    with pytest.raises(hr.PlanError) as caught:
        hr.Plan.from_dict({**PLAN, "data": {"format": "barz"}})
    problem = caught.value.problems[0]
    assert (
        problem.message
        == "'data.format' must be 'csv', 'bars', 'parquet', 'arrow', 'excel', 'spss', 'stata' or 'sas'. Got 'barz' instead."
    )
    assert problem.hint == "did you mean 'bars'?"


def test_a_plan_takes_parts_that_are_made_already() -> None:
    made = hr.Plan.from_dict({**PLAN, "data": DataFormat(delimiter=";"), "method": Method(name="lattice")})
    assert (made.data, made.method) == (DataFormat(delimiter=";"), Method(name="lattice"))
    assert made == hr.Plan.from_dict({**PLAN, "data": {"delimiter": ";"}, "method": "lattice"})
    assert made.replace(privacy=made.privacy) == made


def test_a_format_that_nobody_knows_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(hr.PlanError, match="must be 'csv', 'parquet', 'arrow', 'excel', 'spss', 'stata' or 'sas'"):
        hr.Plan.from_dict({**PLAN, "data": {"format": "bars"}})
    plan = hr.Plan.from_dict(PLAN)
    unchecked = plan.model_copy(update={"data": plan.data.model_copy(update={"format": "bars"})})
    with pytest.raises(hr.DataError, match="There is no file format 'bars'") as caught:
        read_table(tmp_path / "people.csv", unchecked)
    assert caught.value.problems[0].hint == "one of csv, parquet, arrow, excel, spss, stata, sas"


@pytest.mark.usefixtures("bars")
def test_a_new_format_is_in_help_studio_and_reference(tmp_path: Path) -> None:
    for command in (["anonymize"], ["plan", "draft"], ["release", "insert"], ["compare"]):
        assert "CSV, Bars, Parquet, Arrow, Excel, SPSS, Stata or SAS file" in help_of(*command)
    assert ".bars" in table_endings()
    (tmp_path / "people.bars").write_text(PEOPLE)
    assert [path.name for path in Settings(folder=tmp_path).offered()] == ["people.bars"]
    assert "| Bars | `bars` | `.bars` | `encoding` | no | a table of a test |" in file_formats()


def test_a_format_that_is_written_is_offered_for_releases() -> None:
    written = FormatDescriptor(
        "own", "Own", "written too", 25, (".own",), open_csv, writer="hedgerow.engines.export:CSV"
    )
    with FILE_FORMATS.registered(written):
        assert release_forms() == ("csv", "parquet", "own", "excel", "spss", "stata", "parts")
        assert "csv|parquet|own|excel|spss|stata|parts" in help_of("anonymize")
        assert "csv|parquet|own|excel|spss|stata" in help_of("release", "export")
    assert "csv|parquet|excel|spss|stata|parts" in help_of("anonymize")


@pytest.mark.usefixtures("bars")
def test_a_release_is_made_from_a_file_of_a_new_format(tmp_path: Path) -> None:
    (tmp_path / "people.bars").write_text(PEOPLE)
    (tmp_path / "people.csv").write_text(PEOPLE.replace("|", ","))
    hr.anonymize(tmp_path / "people.bars", hr.Plan.from_dict(PLAN), tmp_path / "one")
    hr.anonymize(tmp_path / "people.csv", hr.Plan.from_dict(PLAN), tmp_path / "two")
    assert (tmp_path / "one" / "data.csv").read_bytes() == (tmp_path / "two" / "data.csv").read_bytes()
    assert hr.Plan.load(tmp_path / "one" / "plan.yaml").data.delimiter == "|"


def test_a_reader_of_another_module_is_called_in_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lines_of_a_test.py").write_text(LINES)
    (tmp_path / "people.lines").write_text("a 31\nb 45\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(running, "_template", running._Template())  # the one there is was started before
    import lines_of_a_test  # type: ignore[import-not-found]

    with FILE_FORMATS.registered(lines_of_a_test.DESCRIPTOR):
        table = read_table(tmp_path / "people.lines", hr.Plan.from_dict(PLAN))
    running._template._stop()
    assert table.columns["age"].to_pylist() == ["31", "45"]


def test_every_ending_belongs_to_one_format() -> None:
    assert len(set(table_endings())) == len(table_endings())
    assert all(by_ending(ending.upper()) is not None for ending in table_endings() if ending not in PACKED)
    assert by_ending(".what") is None
    assert [one.name for one in FILE_FORMATS if one.any_ending] == ["csv"]


def test_finding_engines_loads_neither_databases_nor_spark() -> None:
    code = "import sys; from hedgerow.engines.descriptor import ENGINES; ENGINES.all; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"duckdb", "psycopg", "adbc_driver_manager", "pyspark", "numba", "pyarrow"} & set(loaded)
    assert engine_words() == ("auto", "local", "duckdb", "spark")
    assert ENGINES.names == ("local", "duckdb", "postgres", "mariadb", "spark")


class People:
    """Data of a kind that no engine knows."""


def test_a_new_engine_is_chosen_by_data_and_by_name() -> None:
    people = pa.table({"ward": ["a", "a", "b", "b"], "age": [31, 37, 45, 44]})
    own = EngineDescriptor(
        name="own",
        title="Own",
        help="in a test",
        order=50,
        reads="people of a test",
        takes=lambda data: isinstance(data, People),
        suits=lambda data, numbered: isinstance(data, People),
        opened=lambda wish: LocalEngine(people),
        numbers_records=True,
    )
    with ENGINES.registered(own):
        for engine in ("auto", "own"):
            assert hr.explain(People(), hr.Plan.from_dict(PLAN), engine=engine).to_dict()["records"] == 4
        with pytest.raises(hr.HedgerowError, match="The Own engine reads people of a test, not other tables"):
            hr.explain(people, hr.Plan.from_dict(PLAN), engine="own")
        assert "auto|local|duckdb|spark|own" in help_of("explain")
        assert "or in a test. The result is the same" in " ".join(help_of("explain").split())
        assert "| Own | `--engine own` | people of a test | none | yes |" in engines()
    with pytest.raises(hr.HedgerowError, match="There is no engine 'own'") as caught:
        hr.explain(people, hr.Plan.from_dict(PLAN), engine="own")
    assert caught.value.problems[0].hint == "one of auto, local, duckdb, spark"


def test_help_holds_no_word_that_was_not_filled_in() -> None:
    runner = CliRunner()
    for words in (["anonymize"], ["explain"], ["lattice"], ["compare"], ["weights"], ["plan", "draft"],
                  ["release", "create"], ["release", "insert"], ["release", "update"], ["release", "export"]):  # fmt: skip
        text = runner.invoke(app, [*words, "--help"], env={"COLUMNS": "240"}).stdout
        body = text.split("\n", 3)[3]  # after the line of usage
        assert "{" not in body, words


def test_every_kind_of_hierarchy_is_a_key_of_plans_and_has_what_plans_need() -> None:
    keys = set(HierarchySpec.model_fields)
    assert set(HIERARCHY_KINDS.names) | {key for kind in HIERARCHY_KINDS for key in kind.beside} == keys
    for kind in HIERARCHY_KINDS:
        assert (kind.rule is not None) == bool(kind.node_names)
        if kind.rule is not None:
            assert kind.name in kinds()
            begun = kind.rule.begin([3, 40], 5)
            spec = HierarchySpec(**kind.rule.read(begun))
            assert kind.check(spec, Path()) is None
            assert {key: value for key, value in kind.rule.typed(spec).items() if value} == {
                key: value for key, value in begun.items() if value
            }
