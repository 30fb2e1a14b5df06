import contextlib
import functools
import hashlib
import http.server
import threading
import time

import pytest

from epochcost.data import download
from epochcost.errors import InputError

CONTENT = b"the true content of the file\n" * 100


@pytest.fixture
def server(tmp_path):
    """A folder served over HTTP: (folder, address)."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(download, "RETRIES", 0)


def registry_of(address: str) -> dict:
    file = {
        "name": "a.bin",
        "url": f"{address}/a.bin",
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "bytes": len(CONTENT),
    }
    return {"toy": {"archives": [{"kind": "complete", "files": [file]}]}}


def fetch(raw, address="http://127.0.0.1:9", source="canonical", mirror=None):
    return download.fetch("toy", "complete", source, registry_of(address), raw, mirror)


def test_a_file_is_downloaded_checked_and_described(server, tmp_path):
    folder, address = server
    (folder / "a.bin").write_bytes(CONTENT)
    described = fetch(tmp_path / "raw", address)
    assert (tmp_path / "raw/toy/a.bin").read_bytes() == CONTENT
    assert described["source"] == "canonical"
    assert described["files"][0]["bytes"] == len(CONTENT)


def test_a_truncated_download_is_kept_aside_and_not_used(server, tmp_path):
    folder, address = server
    (folder / "a.bin").write_bytes(CONTENT[:-10])
    with pytest.raises(InputError, match=r"damaged file; kept as .*a\.bin\.damaged-1, not used"):
        fetch(tmp_path / "raw", address)
    assert not (tmp_path / "raw/toy/a.bin").exists()
    assert not (tmp_path / "raw/toy/complete.json").exists()
    assert (tmp_path / "raw/toy/a.bin.damaged-1").read_bytes() == CONTENT[:-10]


def test_a_server_that_does_not_answer_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot download http://127\.0\.0\.1:9/a\.bin"):
        fetch(tmp_path / "raw")


def test_a_file_that_is_there_and_right_needs_no_server(tmp_path):
    path = tmp_path / "raw/toy/a.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch(tmp_path / "raw")["files"][0]["name"] == "a.bin"
    assert path.read_bytes() == CONTENT


def test_an_altered_file_is_kept_aside_and_fetched_anew(server, tmp_path):
    folder, address = server
    (folder / "a.bin").write_bytes(CONTENT)
    path = tmp_path / "raw/toy/a.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"altered")
    fetch(tmp_path / "raw", address)
    assert path.read_bytes() == CONTENT
    assert path.with_name("a.bin.damaged-1").read_bytes() == b"altered"


def test_a_mirror_is_copied(tmp_path):
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror/toy/a.bin").write_bytes(CONTENT)
    described = fetch(tmp_path / "raw", source="mirror", mirror=tmp_path / "mirror")
    assert described["source"] == "mirror"
    assert (tmp_path / "raw/toy/a.bin").read_bytes() == CONTENT


def test_what_was_copied_from_a_mirror_needs_it_no_more(tmp_path):
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror/toy/a.bin").write_bytes(CONTENT)
    fetch(tmp_path / "raw", source="mirror", mirror=tmp_path / "mirror")
    (tmp_path / "raw/toy/complete.json").unlink()
    assert fetch(tmp_path / "raw", source="mirror", mirror=None)["source"] == "mirror"
    (tmp_path / "raw/toy/a.bin").write_bytes(b"altered")
    with pytest.raises(InputError, match="no mirror folder is set"):
        fetch(tmp_path / "raw", source="mirror", mirror=None)


def test_a_damaged_mirror_is_left_alone_and_not_used(tmp_path):
    original = tmp_path / "mirror/toy/a.bin"
    original.parent.mkdir(parents=True)
    original.write_bytes(CONTENT[:50])
    with pytest.raises(InputError, match=r"a\.bin is damaged, or another edition \(50 bytes, 2900"):
        fetch(tmp_path / "raw", source="mirror", mirror=tmp_path / "mirror")
    assert original.read_bytes() == CONTENT[:50]
    assert not (tmp_path / "raw/toy/a.bin").exists()


def test_damaged_files_never_overwrite_each_other(tmp_path):
    for content in (b"1", b"2"):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(InputError, match="damaged"):
            download.verified(tmp_path / "a", "0" * 64)
    assert (tmp_path / "a.damaged-1").read_bytes() == b"1"
    assert (tmp_path / "a.damaged-2").read_bytes() == b"2"


def test_a_file_of_which_the_first_digits_alone_are_published_is_described_with_all(tmp_path):
    """As PyTorch publishes its weights: eight digits in the file's name."""
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror/toy/a.bin").write_bytes(CONTENT)
    known, whole = registry_of("http://127.0.0.1:9"), hashlib.sha256(CONTENT).hexdigest()
    known["toy"]["archives"][0]["files"][0]["sha256"] = whole[:8]
    given = ("toy", "complete", "mirror", known, tmp_path / "raw", tmp_path / "mirror")
    (described,) = download.fetch(*given)["files"]
    assert described["sha256"] == whole


class Endless(http.server.BaseHTTPRequestHandler):
    """Sends the same bytes until nobody takes them, with a pause after each piece."""

    piece, pause_s = b"x" * 1000, 0.0

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(self.piece)
                time.sleep(self.pause_s)

    def log_message(self, *_):
        pass


@pytest.fixture
def endless():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as httpd:
        httpd.daemon_threads = True
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


def test_a_download_ends_at_the_known_size(endless, tmp_path):
    with pytest.raises(InputError, match=r"gave more than the 2900 bytes of a\.bin; nothing"):
        fetch(tmp_path / "raw", endless)
    assert not list((tmp_path / "raw/toy").iterdir())


def test_a_download_without_progress_ends(endless, tmp_path, monkeypatch):
    monkeypatch.setattr(Endless, "piece", b"x")
    monkeypatch.setattr(Endless, "pause_s", 0.05)
    monkeypatch.setattr(download, "TIMEOUT_SECONDS", 1)
    with pytest.raises(InputError, match=r"cannot download .*a\.bin: it sent \d+ bytes in 1 s"):
        fetch(tmp_path / "raw", endless)
    assert not list((tmp_path / "raw/toy").iterdir())


def test_a_file_is_fetched_to_no_other_folder(tmp_path):
    known = registry_of("http://127.0.0.1:9")
    known["toy"]["archives"][0]["files"][0]["name"] = "../../outside"
    with pytest.raises(InputError, match="names a file outside of"):
        download.fetch("toy", "complete", "canonical", known, tmp_path / "raw", None)
    with pytest.raises(InputError, match="names a file outside of"):
        download.fetch("..", "complete", "canonical", {"..": known["toy"]}, tmp_path / "raw", None)
