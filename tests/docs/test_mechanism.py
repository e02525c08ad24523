"""What the test of the pages notices: a wrong figure, a command that fails, a file that nobody made, and more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import find_blocks, typed
from tests.docs.comparing import difference
from tests.docs.conftest import Open
from tests.docs.following import Trouble, follow
from tests.docs.set_ups import Start

FENCE = "```"
RELEASE = """
Saved as:

```text title="people.csv"
age,illness
31,flu
33,asthma
52,flu
57,migraine
```

```yaml title="plan.yaml"
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [10]}}
  illness: sensitive
privacy: {k: 2}
```

```console
$ hedgerow anonymize people.csv plan.yaml -o release
released        4 of 4 records
…
$ cat release/data.csv
age,illness
30-39,asthma
30-39,flu
50-59,flu
50-59,migraine
$ (exit 3); echo $?
3
```
"""


def troubles(text: str, open_shell: Open, folder: Path) -> list[Trouble]:
    work = folder / "work"
    work.mkdir()
    start = Start(work)
    return follow(find_blocks(text, "page.md"), open_shell(start), start)


def block(language: str, text: str) -> str:
    return f"{FENCE}{language}\n{text}\n{FENCE}\n"


def test_a_page_that_tells_the_truth_is_no_trouble(open_shell: Open, tmp_path: Path) -> None:
    assert troubles(RELEASE, open_shell, tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong", "line", "said"),
    [
        ("4 of 4 records", "4 of 5 records", 20, "shown 'released 4 of 5 records'"),
        ("50-59,migraine", "50-59,flu", 23, "not printed so"),
        ("records\n…", "records", 20, "which is not shown"),
        ("-o release", "--out release", 20, "ends with 2"),
        ("anonymize people.csv", "anonymize persons.csv", 20, "no-file"),
        ("cat release/data.csv", "cat releases/data.csv", 23, "ends with 1"),
        ("$ cat", "$ tac", 23, "not printed so"),
        ("bands: [10]", "bands: ten", 20, "wrong-value"),
        ('title="plan.yaml"', 'title="plans.yaml"', 20, "The plan file does not exist"),
    ],
)
def test_a_broken_example_fails(right: str, wrong: str, line: int, said: str, open_shell: Open, tmp_path: Path) -> None:
    assert right in RELEASE
    found = troubles(RELEASE.replace(right, wrong, 1), open_shell, tmp_path)
    assert found
    assert found[0].line == line
    assert said in found[0].what


def test_python_blocks_share_a_namespace_and_their_output_is_compared(open_shell: Open, tmp_path: Path) -> None:
    text = (
        block("console", "$ mkdir there\n$ cd there\n$ echo 41 > number")
        + block("python", "from pathlib import Path\n\nnumber = int(Path('number').read_text())\nprint(number)")
        + "\n"
        + block("text", "41")
        + "\nand on:\n\n"
        + block("python", ">>> number + 1\n42\n>>> print('a long …, cut')\na … cut\n")
    )
    assert troubles(text, open_shell, tmp_path) == []
    (tmp_path / "again").mkdir()
    wrong = text.replace("\n42\n", "\n43\n").replace("```text\n41", "```text\n14")
    assert [found.line for found in troubles(wrong, open_shell, tmp_path / "again")] == [7, 20]


def test_a_python_block_that_fails_is_trouble(open_shell: Open, tmp_path: Path) -> None:
    (found,) = troubles(block("python", "import hedgerow\n\nhedgerow.annonymize()"), open_shell, tmp_path)
    assert "AttributeError" in found.what


def test_plans_and_parts_of_plans_are_loaded(open_shell: Open, tmp_path: Path) -> None:
    whole = "attributes: {age: {role: quasi-identifier, hierarchy: {bands: [5]}}}\nprivacy: {k: 5}"
    part, column = "method: {name: cluster, improve: quick}", "sex: {role: quasi-identifier, limit: {level: 0}}"
    good = block("yaml", whole) + block("yaml", part) + block("yaml", column)
    assert troubles(good, open_shell, tmp_path) == []
    bad = good.replace("k: 5", "k: 1").replace("quick", "quickly").replace("level: 0", "level: 9")
    (tmp_path / "again").mkdir()
    assert len(troubles(bad, open_shell, tmp_path / "again")) == 3


def test_what_is_not_run_says_why_right_before_its_block() -> None:
    page = find_blocks("<!-- not run: takes hours -->\n" + block("console", "$ sleep 9999"), "page.md")
    assert [found.not_run for found in page.blocks] == ["takes hours"]
    with pytest.raises(ValueError, match="a block must follow"):
        find_blocks("<!-- not run: takes hours -->\nWords.\n" + block("console", "$ sleep 9999"), "page.md")
    with pytest.raises(ValueError, match="cannot be read"):
        find_blocks("<!-- not run -->\n" + block("console", "$ sleep 9999"), "page.md")
    with pytest.raises(ValueError, match="no end"):
        find_blocks("```console\n$ sleep 9999\n", "page.md")


def test_a_console_block_without_a_prompt_is_refused() -> None:
    (found,) = find_blocks(block("console", "hedgerow demo"), "page.md").blocks
    with pytest.raises(ValueError, match="begins with"):
        typed(found)


def test_commands_go_on_behind_a_backslash() -> None:
    (found,) = find_blocks(block("console", "$ echo a \\\n    b\na b\n$ true"), "page.md").blocks
    assert [(step.line, step.command, step.shown) for step in typed(found)] == [
        (2, "echo a \\\n    b", "a b\n"),
        (5, "true", ""),
    ]


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a b", "a\n   b"),
        ("a … d", "a b c d"),
        ("…\nd", "a b c d"),
        ("a\n…", "a b c d"),
        ("key SHA256:ab12…", "key SHA256:Zq0+/x"),
        ("took 0.4 s", "took 12 s"),
        ("version 1 2026-11-15 15:56", "version 1 2031-01-01 00:00"),
        ("http://127.0.0.1:8642/enter?token=…", "http://127.0.0.1:8650/enter?token=xyz"),
        ("cut here, …", "cut here, and there"),
    ],
)
def test_what_may_differ(shown: str, printed: str) -> None:
    assert difference(shown, printed) is None


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("groups 36", "groups 361"),
        ("groups 361", "groups 36"),
        ("a … c d", "a b d"),
        ("a …", "b a"),
        ("… d", "d e"),
        ("a … b … c", "a c b"),
        ("a", ""),
        ("0.3873", "0.3874"),
        ("✓ k 5", "✗ k 5"),
    ],
)
def test_what_may_not_differ(shown: str, printed: str) -> None:
    assert difference(shown, printed) is not None
