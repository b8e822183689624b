"""Packages: complete, reproducible, usable as they are, with units that systemd accepts."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

# Compression takes most of the time of packaging.
FAST = ["--level", "1"]


def commands(shorttail, *path):
    """Every command of the program, as `[]`, `["index"]`, `["lab", "run"]` and so on."""
    help_text = shorttail(*path, "--help")
    listed, _, _ = help_text.partition("\nOptions:\n")
    names = re.findall(r"^  ([a-z][a-z-]*)\b", listed, re.MULTILINE)
    found = [list(path)]
    for name in names:
        if name != "help":
            found += commands(shorttail, *path, name)
    return found


@pytest.fixture(scope="module")
def build(root, binary):
    """Runs packaging/build with the program under test."""

    def run(*arguments, environment=None):
        command = [sys.executable, root / "packaging/build", "--binary", binary, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)

    return run


@pytest.fixture(scope="module")
def packages(build, tmp_path_factory):
    """A folder with both packages, and both unpacked: `local` as the tarball, `debian` as the Debian package."""
    if not shutil.which("dpkg-deb"):
        pytest.skip("no dpkg-deb here")
    folder = tmp_path_factory.mktemp("packages")
    done = build(*FAST, "--into", folder)
    assert done.returncode == 0, done.stderr
    (tar,) = folder.glob("*.tar.gz")
    with tarfile.open(tar) as archive:
        for member in archive:
            assert member.isfile() and member.uid == member.gid == 0 and not member.mode & 0o022, member.name
        archive.extractall(folder, filter="data")
    (folder / tar.name.removesuffix(".tar.gz")).rename(folder / "local")
    (deb,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "--raw-extract", deb, folder / "debian"], check=True)
    return folder


def paths(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_both_packages_have_the_same_files_in_their_places(packages, build):
    local = paths(packages / "local")
    assert build("--list").stdout.split("\n")[:-1] == sorted(local)
    debian = {path.removeprefix("usr/") for path in paths(packages / "debian") if not path.startswith("DEBIAN/")}
    moved = {path.replace("zsh/site-functions", "zsh/vendor-completions") for path in local}
    assert debian == moved | {"etc/default/shorttail"}


def test_every_command_has_a_manual_page(packages, shorttail):
    expected = {"-".join(["shorttail", *path]) + ".1.gz" for path in commands(shorttail)}
    assert len(expected) > 25
    pages = packages / "local/share/man/man1"
    assert {page.name for page in pages.iterdir()} == expected
    for page in pages.iterdir():
        text = gzip.decompress(page.read_bytes()).decode()
        assert ".TH shorttail" in text and "\n.SH EXAMPLES\n" in text, page.name
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=text, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), page.name


def test_the_packaged_program_indexes_and_finds(packages, tmp_path):
    program = packages / "debian/usr/bin/shorttail"
    documents, index = tmp_path / "documents", tmp_path / "index"
    documents.mkdir()
    (documents / "lynx.txt").write_text("Tufted ears\n\nThe lynx has a short tail.\n")
    for arguments in [["index", index, documents], ["search", index, "lynx"]]:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    assert "Tufted ears" in done.stdout


def test_licences_of_the_program_and_its_libraries_are_inside(packages, root):
    documents = packages / "debian/usr/share/doc/shorttail"
    for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
        assert (documents / name).read_bytes() == (root / name).read_bytes()
    third_party = gzip.decompress((documents / "THIRD-PARTY.gz").read_bytes()).decode()
    for library in ["clap", "tokio", "zstd-sys", "lol_html"]:
        assert re.search(rf"^{library} \d\S*: \S.*; https://", third_party, re.MULTILINE), library
    assert "Permission is hereby granted" in third_party and "Mozilla Public License" in third_party
    assert "(see its text below)" not in third_party


def test_what_the_debian_package_says_of_itself(packages, shorttail):
    control = packages / "debian/DEBIAN"
    fields = dict(re.findall(r"^([A-Z][A-Za-z-]+): (.*)", (control / "control").read_text(), re.MULTILINE))
    assert fields["Version"] == shorttail("--version").split()[1]
    assert fields["Architecture"] in {"amd64", "arm64"}
    assert "@" not in (control / "control").read_text().replace("shorttail@localhost", "")
    assert (control / "conffiles").read_text() == "/etc/default/shorttail\n"
    for script in ["postinst", "prerm", "postrm"]:
        assert os.access(control / script, os.X_OK), script
        subprocess.run(["sh", "-n", control / script], check=True)


def test_completions_are_scripts_of_their_shells(packages):
    for shell, path in [
        ("bash", "bash-completion/completions/shorttail"),
        ("zsh", "zsh/site-functions/_shorttail"),
        ("fish", "fish/vendor_completions.d/shorttail.fish"),
    ]:
        script = packages / "local/share" / path
        assert "optimize" in script.read_text()
        if shutil.which(shell):
            subprocess.run([shell, "-n", script], check=True)


def test_the_same_program_gives_the_same_bytes(packages, build, tmp_path):
    assert build(*FAST, "--into", tmp_path).returncode == 0
    for package in tmp_path.iterdir():
        assert package.read_bytes() == (packages / package.name).read_bytes(), package.name


# ---- units and image -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def units(packages):
    """The units of the Debian package, with the path of the unpacked program."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze here")
    folder = packages / "units"
    folder.mkdir()
    program = str(packages / "debian/usr/bin/shorttail")
    for unit in (packages / "debian/usr/lib/systemd/system").iterdir():
        (folder / unit.name).write_text(unit.read_text().replace("/usr/bin/shorttail", program))
    return folder


def test_systemd_accepts_the_units(units):
    names = sorted(unit.name for unit in units.iterdir())
    assert names == [
        "shorttail-index.service",
        "shorttail-index.timer",
        "shorttail-live.service",
        "shorttail.service",
    ]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(units / name for name in names)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", ["shorttail.service", "shorttail-live.service", "shorttail-index.service"])
def test_units_give_a_process_few_rights(units, unit):
    # 2.0 of 10: what systemd calls OK.
    done = subprocess.run(
        ["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20", units / unit],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-200:] + done.stderr


def test_the_steps_of_the_nightly_index_work(root, binary, shorttail, tmp_path):
    """What shorttail-index.service runs, one line after the other, in a folder of its own."""
    unit = (root / "packaging/shorttail-index.service").read_text()
    lines = re.findall(r"^ExecStart=(-?)(.*)$", unit, re.MULTILINE)
    assert len(lines) == 6
    state, documents = tmp_path / "state", tmp_path / "documents"
    state.mkdir(), documents.mkdir()

    def night():
        for may_fail, line in lines:
            for old, new in [
                ("/usr/bin/shorttail", str(binary)),
                ("/var/lib/shorttail", str(state)),
                ("$SHORTTAIL_SOURCES", str(documents)),
            ]:
                line = line.replace(old, new)
            done = subprocess.run(line.split(), capture_output=True, text=True)
            if done.returncode and not may_fail:
                return f"{line}: {done.stderr}"
        return "done"

    (documents / "a.txt").write_text("Lynx\n\nTufted ears.\n")
    (documents / "b.txt").write_text("Comet\n\nDust and gas.\n")
    assert night() == "done"
    assert {path.name for path in state.iterdir()} == {"index"}
    (documents / "b.txt").unlink()
    assert night() == "done"
    assert {path.name for path in state.iterdir()} == {"index", "previous"}
    assert "Comet" in shorttail("search", state / "previous", "comet")
    assert "0 documents" in shorttail("search", state / "index", "comet")
    # Without documents the old index stays.
    shutil.rmtree(documents)
    assert "shorttail index" in night().replace(str(binary), "shorttail")
    assert "Lynx" in shorttail("search", state / "index", "lynx")
    # The server reads the place that the last step fills.
    assert f"ExecStart=/usr/bin/shorttail serve {lines[-1][1].split()[-1]} " in (
        root / "packaging/shorttail.service"
    ).read_text()


def test_units_of_the_tarball_name_its_own_program(packages):
    for unit in (packages / "local/lib/systemd/system").glob("*.service"):
        assert "/usr/local/bin/shorttail " in unit.read_text()
        assert "/usr/bin/shorttail" not in unit.read_text()


def test_the_options_of_the_defaults_are_known(root, shorttail):
    settings = (root / "packaging/shorttail.default").read_text()
    for _, command in re.findall(r'^SHORTTAIL_(SERVE|LIVE)="(.*)"', settings, re.MULTILINE):
        for option in re.findall(r"--[a-z-]+", command):
            assert option in shorttail("serve", "--help")
    service = (root / "packaging/shorttail.service").read_text()
    assert '127.0.0.1:7700"' in service and "127.0.0.1:7700 " in settings


def test_the_image_is_made_of_files_that_exist(root):
    text = (root / "packaging/Containerfile").read_text()
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    assert copied
    for source in sum(copied, []):
        assert (root / source).exists(), source
    ignored = (root / ".dockerignore").read_text().split()
    assert not {f"/{source}" for source in sum(copied, [])} & set(ignored)


def test_the_image_has_every_member_of_the_workspace(root, tmp_path):
    build = (root / "packaging/Containerfile").read_text().split("\nFROM ")[1]
    for *sources, to in [line.split()[1:] for line in build.splitlines() if line.startswith("COPY ")]:
        for source in map(root.joinpath, sources):
            if source.is_dir():
                shutil.copytree(source, tmp_path / to, ignore=shutil.ignore_patterns("target"))
            else:
                shutil.copy(source, tmp_path / to)
    command = ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- when it cannot --------------------------------------------------------------------------------


def test_missing_tools_are_named_with_their_remedies(root, tmp_path):
    command = [sys.executable, root / "packaging/build", "--check", "--target", "x86_64-unknown-linux-musl"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert done.returncode == 1
    for tool in ["cargo", "dpkg-deb", "musl-gcc (Debian: apt-get install musl-tools)"]:
        assert f"missing: {tool}" in done.stderr


@pytest.mark.parametrize("content", [None, b"#!/bin/sh\ntouch was-run\n"])
def test_what_is_no_program_is_refused_and_not_run(root, tmp_path, content):
    file = tmp_path / "program"
    if content:
        file.write_bytes(content)
        file.chmod(0o755)
    command = [sys.executable, root / "packaging/build", "--binary", file, "--into", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and str(file) in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists() and not (tmp_path / "was-run").exists()
