"""Signing a release, and knowing who signed it."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.release.signing import make_key, manifest, sign_folder

PLAN = {"attributes": {"sex": "quasi-identifier", "illness": "sensitive"}, "privacy": {"k": 2}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release, and two keys."""
    home = tmp_path_factory.mktemp("made")
    people = pa.table({"sex": list("FFFMMM"), "illness": ["flu", "cold", "flu", "flu", "cold", "cold"]})
    hr.anonymize(people, hr.Plan.from_dict(PLAN), home / "release")
    make_key(home / "key")
    make_key(home / "other")
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "home")
    return tmp_path / "home"


def test_a_signed_release_says_who_released_it(home: Path) -> None:
    name = hr.sign(home / "release", home / "key")
    assert name.startswith("SHA256:")
    found = hr.verify(home / "release", key=home / "key.pub")
    assert found.kept
    assert found["signature"].asked == f"signed with {name}"
    assert found["signature"].found == "exactly these files"
    assert found["files"].kept


def test_a_key_is_secret(home: Path) -> None:
    assert stat.S_IMODE((home / "key").stat().st_mode) == 0o600
    (home / "key").chmod(0o640)
    with pytest.raises(hr.DataError, match="read by others"):
        hr.sign(home / "release", home / "key")
    assert not (home / "release" / "signature.json").exists()


@pytest.mark.parametrize("name", ["key", "key.pub"])
def test_a_key_is_never_overwritten(home: Path, name: str) -> None:
    before = (home / name).read_bytes()
    (home / ("key.pub" if name == "key" else "key")).unlink()
    with pytest.raises(hr.DataError, match="exists already"):
        make_key(home / "key")
    assert (home / name).read_bytes() == before


@pytest.mark.parametrize("file", ["data.csv", "plan.yaml", "facts.json"])
def test_one_byte_that_changed_is_found(home: Path, file: str) -> None:
    hr.sign(home / "release", home / "key")
    with (home / "release" / file).open("ab") as written:
        written.write(b"\n" if file != "plan.yaml" else b"# more\n")
    found = hr.verify(home / "release", key=home / "key.pub")
    assert found["signature"].found == "other bytes than were signed"
    assert not found["signature"].kept


def test_another_key_is_found(home: Path) -> None:
    hr.sign(home / "release", home / "other")
    found = hr.verify(home / "release", key=home / "key.pub")
    assert (found["signature"].kept, found["signature"].found) == (False, "signed with another key")


def test_a_renamed_file_is_found(home: Path) -> None:
    """The names are signed too: data.csv cannot become something else."""
    hr.sign(home / "release", home / "key")
    (home / "release" / "extra").touch()
    found = hr.verify(home / "release", key=home / "key.pub")
    assert found["signature"].found == "other files than were signed"
    assert not found["files"].kept


@pytest.mark.parametrize(
    "said",
    ["", "[]", "{}", '{"form": "hedgerow-signature-1", "key": 1, "signature": "AA=="}', "[" * 9000, "no"],
)
def test_a_damaged_signature_is_found(home: Path, said: str) -> None:
    hr.sign(home / "release", home / "key")
    (home / "release" / "signature.json").write_text(said, encoding="utf-8")
    found = hr.verify(home / "release", key=home / "key.pub")
    assert (found["signature"].kept, found["signature"].found) == (False, "a signature that cannot be read")


def test_every_bit_of_a_signature_counts(home: Path) -> None:
    hr.sign(home / "release", home / "key")
    path = home / "release" / "signature.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    text = said["signature"]
    for at in range(0, len(text) - 2, 7):
        other = "A" if text[at] != "A" else "B"
        path.write_text(json.dumps(said | {"signature": text[:at] + other + text[at + 1 :]}), encoding="utf-8")
        assert not hr.verify(home / "release", key=home / "key.pub")["signature"].kept


def test_no_signature_is_no_signature(home: Path) -> None:
    found = hr.verify(home / "release", key=home / "key.pub")
    assert (found["signature"].kept, found["signature"].found) == (False, "no signature")
    assert hr.verify(home / "release").notes == ()


def test_a_signature_that_nobody_checked_is_said_to_be_so(home: Path) -> None:
    hr.sign(home / "release", home / "key")
    found = hr.verify(home / "release")
    assert found.kept
    assert "not checked" in found.notes[0]
    assert "signature" not in [promise.name for promise in found]


def test_what_breaks_a_promise_is_not_signed(home: Path) -> None:
    facts = home / "release" / "facts.json"
    facts.write_text(facts.read_text(encoding="utf-8").replace('"k": 2', '"k": 3'), encoding="utf-8")
    with pytest.raises(hr.BrokenPromise):
        hr.sign(home / "release", home / "key")
    assert not (home / "release" / "signature.json").exists()


def test_signing_again_is_asked_for(home: Path) -> None:
    hr.sign(home / "release", home / "key")
    with pytest.raises(hr.DataError, match="signed already"):
        hr.sign(home / "release", home / "other")
    hr.sign(home / "release", home / "other", replace=True)
    assert hr.verify(home / "release", key=home / "other.pub").kept
    assert sorted(path.name for path in home.iterdir()) == ["key", "key.pub", "other", "other.pub", "release"]


def test_a_release_that_is_replaced_loses_its_signature(home: Path) -> None:
    hr.sign(home / "release", home / "key")
    people = pa.table({"sex": list("FFMM"), "illness": ["flu", "cold", "flu", "cold"]})
    hr.anonymize(people, hr.Plan.from_dict(PLAN), home / "release", replace=True)
    assert not (home / "release" / "signature.json").exists()
    assert not hr.verify(home / "release", key=home / "key.pub").kept


@pytest.mark.parametrize(
    "content", [b"", b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", b"\xff" * 50_000]
)
def test_a_file_that_is_no_key(home: Path, content: bytes) -> None:
    (home / "key").write_bytes(content)
    with pytest.raises(hr.DataError, match="does not hold a private"):
        sign_folder(home / "release", home / "key")
    with pytest.raises(hr.DataError, match="does not hold a public"):
        hr.verify(home / "release", key=home / "key")
    with pytest.raises(hr.DataError, match="does not exist"):
        hr.verify(home / "release", key=home / "nothing")
    with pytest.raises(hr.DataError, match="does not exist"):
        hr.verify(home / "release", key=home)


def test_keys_of_another_kind_are_refused(home: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import x25519

    key = x25519.X25519PrivateKey.generate()
    (home / "key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )  # fmt: skip
    with pytest.raises(hr.DataError, match="private Ed25519"):
        sign_folder(home / "release", home / "key")


def test_only_folders_are_signed(home: Path) -> None:
    with pytest.raises(hr.HedgerowError, match="Only a release folder"):
        hr.verify("postgresql://u@h/d?table=t", key=home / "key.pub")
    people = pa.table({"sex": list("FFMM"), "illness": ["flu", "cold", "flu", "cold"]})
    with pytest.raises(hr.HedgerowError, match="Only a release folder"):
        hr.verify(hr.anonymize(people, hr.Plan.from_dict(PLAN)), key=home / "key.pub")


def test_what_is_signed_is_names_lengths_and_fingerprints(home: Path) -> None:
    lines = manifest(home / "release").decode().splitlines()
    assert lines[0] == "hedgerow-signature-1"
    assert [line.split(" ")[2] for line in lines[1:]] == ["data.csv", "facts.json", "plan.yaml"]
    assert [int(line.split(" ")[1]) for line in lines[1:]] == [
        (home / "release" / name).stat().st_size for name in ("data.csv", "facts.json", "plan.yaml")
    ]


def test_without_the_library_it_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(hr.HedgerowError, match="not installed") as error:
        hr.verify(home / "release", key=home / "key.pub")
    assert "pip install -e '.[sign]'" in error.value.problems[0].hint


def test_on_the_command_line(home: Path) -> None:
    run = CliRunner().invoke
    made = run(app, ["sign", "--make-key", str(home / "new"), "--json"])
    signed = run(app, ["sign", str(home / "release"), "--key", str(home / "new"), "--json"])
    assert json.loads(made.stdout) == json.loads(signed.stdout)
    checked = run(app, ["verify", str(home / "release"), "--key", str(home / "new.pub"), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["promises"][-1]["name"] == "signature"
    shown = run(app, ["verify", str(home / "release"), "--key", str(home / "new.pub")])
    assert "maker's word" in shown.stdout
    refused = run(app, ["verify", str(home / "release"), "--key", str(home / "key.pub")])
    assert refused.exit_code == 1
    report = hr.report(home / "release", key=home / "new.pub")
    assert "signature.json" in report.html
    assert "exactly these files" in report.html
    assert "The maker’s word" in report.html
