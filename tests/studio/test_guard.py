"""Nobody gets in who should not, and nothing too large does; asked over real connections."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.studio.servers import Served, serving


def test_without_a_token_nothing_is_served(studio: Served) -> None:
    for path in ("/", "/data", "/limits", "/files/x", "/_nicegui/anything", "/openapi.json", "/docs"):
        status, _, content = studio.ask("GET", path)
        assert status == 401, path
        assert b"works once" in content


def test_a_token_works_once(studio: Served) -> None:
    link = studio.link()
    path = link.removeprefix(studio.url)
    assert studio.ask("GET", path)[0] == 200
    assert studio.ask("GET", path)[0] == 401


@pytest.mark.parametrize("token", ["", "guess", "%00", "x" * 5000])
def test_a_wrong_token_is_refused(studio: Served, token: str) -> None:
    assert studio.ask("GET", f"/enter?token={token}")[0] == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(studio: Served) -> None:
    path = studio.link().removeprefix(studio.url)
    cookie = studio.ask("GET", path)[1]["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1", "", "localhost:1"])
def test_a_foreign_host_is_refused_even_with_the_cookie(studio: Served, host: str) -> None:
    mine = studio.enter()
    status, _, content = studio.ask("GET", "/data", {**mine, "Host": host})
    assert status == 421
    assert b"Hedgerow" not in content


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "https://{host}", "http://{host}.evil.example"]
)
def test_a_foreign_origin_is_refused_even_with_the_cookie(studio: Served, origin: str) -> None:
    mine = {**studio.enter(), "Origin": origin.format(host=f"127.0.0.1:{studio.port}")}
    assert studio.ask("POST", "/files?name=a.csv", mine, b"a\n1\n")[0] == 403
    assert studio.ask("GET", "/data", mine)[0] == 403
    assert studio.shake_hands("/_nicegui_ws/socket.io/?EIO=4&transport=websocket", mine) == 403


def test_what_is_posted_must_say_where_it_comes_from(studio: Served) -> None:
    mine = studio.enter()
    del mine["Origin"]
    assert studio.ask("POST", "/files?name=a.csv", mine, b"a\n1\n")[0] == 403
    assert studio.shake_hands("/_nicegui_ws/socket.io/?EIO=4&transport=websocket", mine) == 403


def test_a_socket_needs_a_session_and_a_page_of_its_own(studio: Served) -> None:
    mine = studio.enter()
    path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert studio.shake_hands(path, {"Origin": studio.url}) == 403
    assert studio.shake_hands(path, mine) == 403
    assert studio.shake_hands(path + "&client_id=00000000-0000-0000-0000-000000000000", mine) == 403


def test_pages_do_not_poll(studio: Served) -> None:
    mine = studio.enter()
    assert studio.ask("GET", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", mine)[0] == 403
    assert studio.ask("POST", "/_nicegui_ws/socket.io/?EIO=4&transport=polling&sid=x", mine, b"40")[0] == 403


def test_cookies_of_other_programs_do_no_harm(studio: Served) -> None:
    mine = studio.enter()
    for other in ('app={"theme":1}; ', "a=b=c; ;; =; ", 'x="; '):
        assert studio.ask("GET", "/data", {**mine, "Cookie": other + mine["Cookie"]})[0] == 200


def test_a_session_keeps_no_more_than_its_share(studio: Served) -> None:
    mine = studio.enter()
    answers = [studio.ask("POST", "/files?name=a.csv", mine, b"x" * 900_000)[0] for _ in range(4)]
    assert answers == [200, 200, 200, 507]


def test_an_upload_within_the_limit_is_kept_under_an_opaque_name(studio: Served) -> None:
    mine = studio.enter()
    status, _, content = studio.ask("POST", "/files?name=..%2F..%2Fpeople.csv", mine, b"x" * 1_000_000)
    assert status == 200
    told = json.loads(content)
    assert told["name"] == "people.csv"
    assert len(told["id"]) >= 24
    status, headers, content = studio.ask("GET", f"/files/{told['id']}", mine)
    assert (status, len(content)) == (200, 1_000_000)
    assert headers["cache-control"] == "no-store"
    assert headers["content-disposition"].startswith("attachment")


def test_an_upload_that_says_it_is_too_large_is_refused(studio: Served) -> None:
    mine = studio.enter()
    assert studio.ask("POST", "/files?name=a.csv", mine, b"x" * 1_000_001)[0] == 413


def test_an_upload_that_comes_in_pieces_is_refused_when_it_gets_too_large(studio: Served) -> None:
    mine = studio.enter()

    def pieces() -> Iterator[bytes]:
        for _ in range(200):
            yield b"x" * 10_000

    before = _files(studio)
    status, _, content = studio.ask("POST", "/files?name=a.csv", mine, pieces(), encode_chunked=True)
    assert status == 413
    assert b"1,000,000" in content
    for _ in range(50):  # what it left is removed after the answer
        if _files(studio) == before:
            return
        time.sleep(0.1)
    pytest.fail("what arrived of it is still there")


@pytest.mark.parametrize("length", ["-1", "1e3", "99999999999999999999"])
def test_a_length_that_is_none_is_refused(studio: Served, length: str) -> None:
    mine = {**studio.enter(), "Content-Length": length}
    assert studio.ask("POST", "/files?name=a.csv", mine)[0] in (400, 413)


def test_anything_but_an_upload_is_small(studio: Served) -> None:
    mine = studio.enter()
    assert studio.ask("POST", "/sign-out", mine, b"x" * (1 << 20) + b"x")[0] == 413


def test_the_file_of_one_session_is_not_there_for_another(studio: Served) -> None:
    mine, other = studio.enter(), studio.enter()
    told = json.loads(studio.ask("POST", "/files?name=a.csv", mine, b"a\n1\n")[2])
    assert studio.ask("GET", f"/files/{told['id']}", mine)[0] == 200
    assert studio.ask("GET", f"/files/{told['id']}", other)[0] == 404
    assert studio.ask("GET", f"/files/{told['id']}")[0] == 401


def test_files_are_private_and_go_when_the_session_ends(studio: Served) -> None:
    mine = studio.enter()
    before = _files(studio)
    studio.ask("POST", "/files?name=a.csv", mine, b"a\n1\n")
    new = set(_files(studio)) - set(before)
    assert len(new) == 1
    assert stat.S_IMODE(next(iter(new)).stat().st_mode) == 0o600
    assert stat.S_IMODE(next(iter(new)).parent.stat().st_mode) == 0o700
    assert studio.ask("POST", "/sign-out", mine)[0] == 303
    assert _files(studio) == before
    assert studio.ask("GET", "/data", mine)[0] == 401


def test_every_answer_keeps_other_pages_out(studio: Served) -> None:
    mine = studio.enter()
    for headers in (studio.ask("GET", "/data", mine)[1], studio.ask("GET", "/data")[1]):
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers


def test_everything_is_removed_at_the_end(tmp_path: Path) -> None:
    with serving(folder=tmp_path) as served:
        served.ask("POST", "/files?name=a.csv", served.enter(), b"a\n1\n")
        assert list((tmp_path / "scratch").rglob("*.csv"))
    assert not list((tmp_path / "scratch").glob("hedgerow-scratch-*"))


def _files(studio: Served) -> list[Path]:
    folder = Path(f"/proc/{studio.process.pid}/cwd").resolve()
    return sorted(path for path in (folder / "scratch").rglob("*") if path.is_file())
