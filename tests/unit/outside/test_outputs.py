"""Putting files and folders in place: whole or not at all, whatever fails in between; nothing is lost, nothing lingers."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.outside.outputs import PrivateFolder, check_free, moving, new_file, new_folder, put_text
from hedgerow.outside.outputs import file as file_module
from hedgerow.outside.outputs import folder as folder_module
from hedgerow.outside.outputs import private as private_module
from hedgerow.outside.outputs.file import beside

OWN = frozenset({"data.csv", "plan.yaml", "facts.json"})


def write(target: Path, text: str, replace: bool = False) -> None:
    with new_folder(target, replace, OWN) as folder:
        (folder / "facts.json").write_text(text)


def held(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(first: Path, second: Path) -> None:
        raise moving.Unsupported

    monkeypatch.setattr(folder_module, "exchange", cannot)


def in_a_fork(work: Callable[[], None]) -> int:
    """Do something in a process of its own, which then ends without any chance to clean up."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# -- replacing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [True, False])
def test_a_release_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool) -> None:
    if not at_once:
        without_exchange(monkeypatch)
    write(tmp_path / "out", "old")
    write(tmp_path / "out", "new", replace=True)
    assert held(tmp_path) == {"out/facts.json": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_old_and_new_change_places_at_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text(name)
    try:
        moving.exchange(tmp_path / "one", tmp_path / "two")
    except moving.Unsupported:
        pytest.skip("this file system cannot exchange two folders")
    assert held(tmp_path) == {"one/text": "two", "two/text": "one"}


def test_a_kill_between_two_renames_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", "old")

    def killed() -> None:
        without_exchange(monkeypatch)
        rename = Path.rename

        def once(path: Path, target: Path) -> Path:
            if path.name == "new":
                os._exit(9)
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", once)
        write(tmp_path / "out", "new", replace=True)

    assert in_a_fork(killed) == 9
    assert not (tmp_path / "out").exists()
    with pytest.raises(hr.DataError, match="not empty"):  # because the old one is back
        check_free(tmp_path / "out", replace=False, own=OWN)
    assert held(tmp_path / "out") == {"facts.json": "old"}
    write(tmp_path / "out", "newer", replace=True)
    assert held(tmp_path) == {"out/facts.json": "newer"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_old_release_whose_place_was_taken_is_never_swept(tmp_path: Path) -> None:
    left = tmp_path / ".out.hedgerow-killed"
    for name in ("old", "new"):
        (left / name).mkdir(parents=True)
        (left / name / "facts.json").write_text(name)
    (left / ".lock").touch()
    write(tmp_path / "somebody else's", "other")
    (tmp_path / "somebody else's").rename(tmp_path / "out")
    write(tmp_path / "out", "newest", replace=True)
    assert held(left / "old") == {"facts.json": "old"}


def test_a_rename_that_fails_puts_the_old_release_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", "old")
    without_exchange(monkeypatch)
    rename = Path.rename

    def once(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(errno.EIO, "broken")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", once)
    with pytest.raises(hr.DataError, match="cannot be written"):
        write(tmp_path / "out", "new", replace=True)
    assert held(tmp_path) == {"out/facts.json": "old"}


def test_what_somebody_put_there_meanwhile_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "out", "old")
    with pytest.raises(hr.DataError, match="other files"), new_folder(tmp_path / "out", True, OWN) as folder:  # noqa: PT012
        (folder / "facts.json").write_text("new")
        (tmp_path / "out" / "mine.txt").write_text("mine")
    assert held(tmp_path) == {"out/facts.json": "old", "out/mine.txt": "mine"}


# -- two at once ------------------------------------------------------------------------------------------------------


def test_of_two_runs_to_one_place_the_second_is_refused(tmp_path: Path) -> None:
    with pytest.raises(hr.DataError, match="meanwhile"), new_folder(tmp_path / "out", replace=False, own=OWN) as folder:  # noqa: PT012
        (folder / "facts.json").write_text("slow")
        write(tmp_path / "out", "fast")
    assert held(tmp_path) == {"out/facts.json": "fast"}


def test_many_that_replace_one_release_leave_one_of_theirs(tmp_path: Path) -> None:
    write(tmp_path / "out", "first")
    missing: list[str] = []

    def replaces(name: str) -> None:
        for turn in range(20):
            write(tmp_path / "out", f"{name} {turn}", replace=True)

    def looks() -> None:
        while any(one.is_alive() for one in writers):
            if not (tmp_path / "out").is_dir():
                missing.append("missing")

    writers = [threading.Thread(target=replaces, args=(name,)) for name in "abc"]
    for one in writers:
        one.start()
    looks()
    assert not missing
    assert list(held(tmp_path)) == ["out/facts.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# -- leftovers --------------------------------------------------------------------------------------------------------

HOLD = "import sys; from pathlib import Path; from hedgerow.outside.outputs import PrivateFolder; "


def test_a_lock_tells_running_work_from_leftovers(tmp_path: Path) -> None:
    words = HOLD + "f = PrivateFolder(Path(sys.argv[1]), '.out.hedgerow-'); print(f.path, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", words, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as held_by_another:
        assert held_by_another.stdout is not None
        folder = Path(held_by_another.stdout.readline().strip())
        write(tmp_path / "out", "mine")
        assert folder.is_dir()  # it is in use, whatever numbers processes have
        held_by_another.kill()
    write(tmp_path / "out", "mine again", replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_run_that_is_refused_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    for name in ("out", "page.html"):
        left = tmp_path / f".{name}.hedgerow-killed"
        left.mkdir()
        (left / ".lock").touch()
    write(tmp_path / "in-place", "new")
    (tmp_path / "in-place").rename(tmp_path / "out")
    (tmp_path / "page.html").touch()
    with pytest.raises(hr.DataError, match="output-in-use"):
        check_free(tmp_path / "out", replace=False, own=OWN)
    with pytest.raises(hr.DataError, match="output-in-use"):
        file_module.refuse_existing(tmp_path / "page.html", "There is a page.", "remove it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "page.html"]


def test_a_folder_whose_maker_was_killed_before_it_was_locked(tmp_path: Path) -> None:
    (tmp_path / ".out.hedgerow-empty").mkdir()
    (tmp_path / ".out.hedgerow-not-ours").mkdir()
    (tmp_path / ".out.hedgerow-not-ours" / "mine.txt").write_text("mine")
    write(tmp_path / "out", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.hedgerow-not-ours", "out"]


def test_where_nothing_can_be_locked_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / ".out.hedgerow-left"
    left.mkdir()
    (left / ".lock").touch()
    monkeypatch.setattr(private_module, "_flock", lambda handle, wait: False)
    write(tmp_path / "out", "new")
    assert left.is_dir()
    assert held(tmp_path / "out") == {"facts.json": "new"}


def test_the_end_of_a_process_removes_what_nobody_removed(tmp_path: Path) -> None:
    words = HOLD + "f = PrivateFolder(Path(sys.argv[1])); (f.path / 'records.db').write_text('private')"
    assert subprocess.run([sys.executable, "-c", words, str(tmp_path)], check=False).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_for_temporary_files_that_is_full_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(private_module.tempfile, "mkdtemp", full)  # type: ignore[attr-defined]
    with pytest.raises(hr.DataError, match="temporary files cannot be used: No space left"):
        PrivateFolder()


def test_folders_that_had_to_be_made_go_again(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), new_folder(tmp_path / "a" / "b" / "out", replace=False, own=OWN):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_private_folder_that_stayed_inside_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrivateFolder, "remove", lambda _: None)
    with new_folder(tmp_path / "out", replace=False, own=OWN) as folder:
        put_text(folder / "facts.json", "whole", "the facts")
    assert held(tmp_path / "out") == {"facts.json": "whole"}


# -- symbolic links ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("points_to", ["there", "nowhere"])
def test_a_symbolic_link_is_neither_followed_nor_replaced(tmp_path: Path, replace: bool, points_to: str) -> None:
    write(tmp_path / "there", "old")
    (tmp_path / "page").write_text("old page")
    (tmp_path / "out").symlink_to(points_to)
    (tmp_path / "file").symlink_to("page" if points_to == "there" else "nowhere")
    before = held(tmp_path / "there")
    with pytest.raises(hr.DataError, match="symbolic link"):
        write(tmp_path / "out", "new", replace)
    with pytest.raises(hr.DataError, match="symbolic link"):
        put_text(tmp_path / "file", "new", "the page", replace=replace)
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "file").is_symlink()
    assert held(tmp_path / "there") == before
    assert (tmp_path / "page").read_text() == "old page"
    assert not (tmp_path / "nowhere").exists()


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), new_file(tmp_path / "page", "the page") as file:  # noqa: PT012
        file.write("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    put_text(tmp_path / "page", "whole", "the page")
    with pytest.raises(hr.DataError, match="meanwhile"):
        put_text(tmp_path / "page", "another", "the page")
    with pytest.raises(hr.DataError, match="meanwhile"), new_file(tmp_path / "other", "the page") as file:  # noqa: PT012
        file.write("slow")
        put_text(tmp_path / "other", "fast", "the page")
    assert held(tmp_path) == {"page": "whole", "other": "fast"}
    put_text(tmp_path / "page", "again", "the page", mode=0o600, replace=True)
    assert held(tmp_path) == {"page": "again", "other": "fast"}
    assert (tmp_path / "page").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_file_system_that_cannot_rename_without_replacing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hard_links: bool
) -> None:
    def cannot(*_: Any) -> None:
        raise moving.Unsupported

    def refuse(*_: Any) -> None:
        raise OSError(errno.EPERM, "no hard links")

    monkeypatch.setattr(moving, "_renameat2", cannot)
    if not hard_links:
        monkeypatch.setattr(os, "link", refuse)
    put_text(tmp_path / "page", "whole", "the page")
    with pytest.raises(FileExistsError):
        moving.move(tmp_path / "page", tmp_path / "page")
    assert held(tmp_path) == {"page": "whole"}


@pytest.mark.parametrize("name", ["n" * 250, "é" * 127])
def test_a_long_name_leaves_room_for_a_hidden_one(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "long")
    put_text(tmp_path / f"{name[1:]}", "long", "the page")
    assert len(list(tmp_path.iterdir())) == 2
    assert len(os.fsencode(beside(Path(name)))) < 220


# -- what is done is never denied -------------------------------------------------------------------------------------

PEOPLE = {"sex": ["F", "F", "M", "M"]}
PLAN = hr.Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})


def people() -> Any:
    import pyarrow as pa

    return pa.table(PEOPLE)


def test_a_disk_that_does_not_confirm_a_release_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(folder_module, "sync", fail)
    with pytest.raises(hr.DoneBut, match="in place, but the disk did not confirm") as caught:
        hr.anonymize(people(), PLAN, tmp_path / "release", link=tmp_path / "link.csv")
    assert caught.value.exit_code == 4
    monkeypatch.undo()
    assert hr.verify(tmp_path / "release", people(), tmp_path / "link.csv").kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "release"]


def test_a_link_table_that_cannot_be_named_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, target: Path) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(file_module, "move", fail)
    with pytest.raises(hr.DoneBut, match="in place, but what goes with it is not"):
        hr.anonymize(people(), PLAN, tmp_path / "release", link=tmp_path / "link.csv")
    assert hr.verify(tmp_path / "release", people()).kept
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_rename_that_was_done_and_reported_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def lies(path: Path, target: Path) -> Path:
        rename(path, target)
        raise OSError(errno.EIO, "the answer was lost")  # as a network file system may

    monkeypatch.setattr(Path, "rename", lies)
    write(tmp_path / "out", "new")
    assert held(tmp_path) == {"out/facts.json": "new"}
