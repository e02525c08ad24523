"""A studio for a team: people sign in over TLS, what they do is written down, and they open nothing they were not given."""

from __future__ import annotations

import json
import ssl
import stat
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from hedgerow.errors import DataError, HedgerowError
from hedgerow.studio.settings import Settings
from hedgerow.studio.users import Door, add_user, matches, read_users
from tests.conftest import Run
from tests.studio.servers import Served, serving

PASSWORD = "a password that is long"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    """A studio with TLS, two users and an audit log."""
    folder = tmp_path_factory.mktemp("team")
    subject = ["-subj", "/CN=127.0.0.1", "-days", "2"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*make, *subject], cwd=folder, check=True, capture_output=True)
    for name in ("ann", "bob"):
        add_user(folder / "users", name, PASSWORD)
    words = ["--auth", "users", "--certificate", "cert.pem", "--private-key", "key.pem", "--log", "audit.jsonl"]
    with serving(*words, folder=folder) as served:
        yield served, folder


class Visitor:
    """Somebody with a browser of their own."""

    def __init__(self, served: Served) -> None:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        self._url = served.url
        self.cookies = CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=trusting), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, str, str]:
        """Return status, address reached and content."""
        headers = {"Accept": "text/html"} if body is None else {"Accept": "text/html", "Origin": self._url}
        try:
            answer = self._opener.open(urllib.request.Request(self._url + path, body, headers), timeout=30)
        except urllib.error.HTTPError as error:
            return error.code, error.url, error.read().decode()
        with answer:
            return answer.status, answer.url.removeprefix(self._url), answer.read().decode()

    def sign_in(self, name: str, password: str) -> tuple[int, str, str]:
        return self.ask("/sign-in", urllib.parse.urlencode({"name": name, "password": password}).encode())


def test_nobody_enters_without_signing_in(team: tuple[Served, Path]) -> None:
    visitor = Visitor(team[0])
    status, reached, content = visitor.ask("/data")
    assert (status, reached) == (200, "/sign-in")
    assert "Password" in content
    assert visitor.ask("/enter?token=anything")[0] == 401
    assert visitor.ask("/files?name=a.csv", b"a\n1\n")[0] == 401


def test_name_and_password_must_fit(team: tuple[Served, Path]) -> None:
    visitor = Visitor(team[0])
    for name, password in (("ann", "wrong"), ("eve", PASSWORD), ("", ""), ("ann", ""), ("ann\0", PASSWORD)):
        assert "do not fit" in visitor.sign_in(name, password)[2]
    assert not list(visitor.cookies)


def test_two_people_work_apart_over_tls(team: tuple[Served, Path]) -> None:
    ann, bob = Visitor(team[0]), Visitor(team[0])
    assert ann.sign_in("ann", PASSWORD)[1] == "/data"
    assert bob.sign_in("bob", PASSWORD)[1] == "/data"
    assert all(cookie.secure for cookie in ann.cookies)
    told = json.loads(ann.ask("/files?name=a.csv", b"a\n1\n")[2])
    assert ann.ask(f"/files/{told['id']}")[0] == 200
    assert bob.ask(f"/files/{told['id']}")[0] == 404


def test_the_log_tells_who_did_what_and_nothing_of_the_data(team: tuple[Served, Path]) -> None:
    served, folder = team
    ann = Visitor(served)
    ann.sign_in("ann", PASSWORD)
    ann.ask("/files?name=secretname.csv", b"name\nMarigold Secretvalue\n")
    lines = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    assert {"entered", "uploaded", "refused"} >= {line["what"] for line in lines[-2:]}
    assert lines[-1]["user"] == "ann"
    assert lines[-1]["bytes"] == 26
    text = (folder / "audit.jsonl").read_text() + served.printed
    assert "Secretvalue" not in text
    assert PASSWORD not in text
    assert stat.S_IMODE((folder / "audit.jsonl").stat().st_mode) == 0o600


def test_people_sign_in_and_out_in_a_browser(team: tuple[Served, Path], new_page: Any) -> None:
    served, folder = team
    page, other = new_page(ignore_https_errors=True), new_page(ignore_https_errors=True)
    for one, name in ((page, "ann"), (other, "bob")):
        one.goto(served.url)
        one.fill("[name=name]", name)
        one.fill("[name=password]", PASSWORD)
        one.click("button")
        one.wait_for_selector("[data-testid=made-up]")
    tab = page.context.new_page()
    tab.goto(f"{served.url}/data")
    tab.wait_for_selector("[data-testid=made-up]")
    page.click("text=Sign out ann")
    page.wait_for_selector("[name=password]")
    tab.click("[data-testid=made-up]")
    tab.wait_for_selector("[name=password]")  # the other tab of the same person does nothing any more
    other.click("[data-testid=made-up]")
    other.wait_for_selector("[data-testid=records]")
    assert '"left"' in (folder / "audit.jsonl").read_text()


def test_guessing_is_slowed_down() -> None:
    users = {"ann": _kept(PASSWORD)}
    door = Door(users)
    assert not any(door.opens("ann", f"guess {number}") for number in range(10))
    assert not door.opens("ann", PASSWORD)


def test_a_users_file_is_private_and_hashed(tmp_path: Path) -> None:
    path = tmp_path / "users"
    add_user(path, "ann", PASSWORD)
    add_user(path, "bob", PASSWORD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PASSWORD not in path.read_text()
    users = read_users(path)
    assert users["ann"] != users["bob"]
    assert matches(PASSWORD, users["ann"])
    path.chmod(0o644)
    with pytest.raises(DataError, match="read by others"):
        read_users(path)


@pytest.mark.parametrize("text", ["", "ann\n", "ann:plain\n", "a b:scrypt$1$1$1$AA==$AA==\n"])
def test_a_users_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "users"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(DataError):
        read_users(path)


@pytest.mark.parametrize(
    ("name", "password"), [("ann", "short"), ("a:b", PASSWORD), ("", PASSWORD), ("a\nb", PASSWORD)]
)
def test_names_and_passwords_that_will_not_do(tmp_path: Path, name: str, password: str) -> None:
    with pytest.raises(DataError):
        add_user(tmp_path / "users", name, password)
    assert not (tmp_path / "users").exists()


def test_other_machines_need_sign_in_and_tls(hedgerow: Run, tmp_path: Path) -> None:
    done = hedgerow("studio", "--host", "0.0.0.0", "--no-browser", cwd=tmp_path)
    assert done.returncode == 2
    assert "--auth" in done.stderr


def test_a_team_opens_files_of_its_folder_only(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "a.csv").write_text("a\n1\n")
    (tmp_path / "given" / "out").symlink_to(tmp_path)
    users = tmp_path / "users"
    settings = Settings(users=users, folder=tmp_path / "given", databases=False)
    assert settings.check_place("a.csv") == str((tmp_path / "given" / "a.csv").resolve())
    for place in ("../users", "/etc/passwd", "out/users", "~/x", "postgresql://h/d?table=t", "mysql://h/d"):
        with pytest.raises(HedgerowError):
            settings.check_place(place)
    with pytest.raises(HedgerowError):
        Settings(users=users).check_place("/etc/passwd")
    ann, bob = (settings.check_store("clinic.store", name) for name in ("ann", "bob"))
    assert ann != bob
    for place in ("../bob/clinic.store", "/tmp/x.store", "..", "a/b.store", "../../../x"):
        with pytest.raises(HedgerowError):
            settings.check_store(place, "ann")


def _kept(password: str) -> str:
    from hedgerow.studio.users import hash_password

    return hash_password(password)
