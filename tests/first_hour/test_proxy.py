"""The nginx example, run: queries pass, administration does not, one client cannot ask without limit."""

import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

HEADERS = {"Host": "search.example.org"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def nginx():
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if not found or not shutil.which("openssl"):
        pytest.skip("no nginx here")
    return found


@pytest.fixture(scope="module")
def server(binary, shorttail, tmp_path_factory):
    """The address of a server that trusts a proxy on this machine."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "documents").mkdir()
    (folder / "documents/lynx.txt").write_text("Tufted ears\n\nThe lynx has a short tail.\n")
    shorttail("index", folder / "index", folder / "documents")
    command = [binary, "serve", folder / "index", "--listen", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1",
               "--host", "search.example.org"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if said := re.match(r"listening on http://(\S+)", line):
                break
        yield said[1]
        process.terminate()


@pytest.fixture(scope="module")
def proxy(root, nginx, server, tmp_path_factory):
    """The base URL of nginx with the example's file, before the server."""
    folder = tmp_path_factory.mktemp("nginx")
    certificate, key = folder / "search.pem", folder / "search.key"
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=search.example.org"]
    subprocess.run([*making, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    plain, secure = free_port(), free_port()
    site = (root / "packaging/nginx.conf").read_text()
    for old, new in [
        ("/etc/ssl/search.example.org.pem", str(certificate)),
        ("/etc/ssl/search.example.org.key", str(key)),
        ("server 127.0.0.1:7700;", f"server {server};"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{secure} ssl;"),
    ]:
        assert site.count(old) == 1, old
        site = site.replace(old, new)
    kept = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\nhttp {{ access_log off; {kept}\n{site}\n}}\n"
    )
    process = subprocess.Popen([nginx, "-c", file, "-p", folder, "-e", folder / "errors"])
    base = f"https://127.0.0.1:{secure}"
    for _ in range(100):
        try:
            get(base, "/healthz")
            break
        except (OSError, urllib.error.URLError):
            assert process.poll() is None, (folder / "errors").read_text()
            time.sleep(0.05)
    yield base
    process.terminate()
    process.wait()
    assert "[emerg]" not in (folder / "errors").read_text()


def get(base, path):
    """Status and body of a request to the proxy."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(
            urllib.request.Request(base + path, headers=HEADERS), context=trusting, timeout=20
        ) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def test_queries_pass(proxy):
    status, page = get(proxy, "/?q=lynx")
    assert status == 200 and "Tufted ears" in page
    status, answer = get(proxy, "/search?q=lynx")
    assert status == 200 and '"total":{"value":1' in answer


def test_administration_does_not_pass(proxy):
    assert get(proxy, "/metrics")[0] == 404
    assert get(proxy, "/reload")[0] == 404


def test_a_client_without_end_is_slowed_down(proxy):
    with ThreadPoolExecutor(16) as clients:
        statuses = list(clients.map(lambda _: get(proxy, "/search?q=lynx")[0], range(200)))
    assert set(statuses) == {200, 429}
    assert statuses.count(200) > 20
