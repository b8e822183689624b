"""Examples of the help: each is run on the index of `shorttail demo`, those of one command one after the other."""

import bz2
import gzip
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading

import pytest
import zstandard
from test_packages import commands

# Examples that are not run, with the reason.
LEFT_OUT = {
    "shorttail crawl my-docs https://docs.example.org": "asks a server elsewhere",
    "shorttail crawl my-docs https://example.org/manual/ --within path --deny .pdf": "asks a server elsewhere",
    "shorttail crawl my-docs crawl.toml --serve": "serves until Ctrl-C",
    "shorttail crawl my-docs crawl.toml --watch --indexnow 127.0.0.1:7702": "goes on until Ctrl-C",
    "shorttail crawl my-docs http://127.0.0.1:8000/ --owned --allow-addresses 127.0.0.0/8":
        "prepared as this, at another port",
    "shorttail crawl my-docs http://127.1.0.1:8000/ --within any --allow-addresses 127.0.0.0/8":
        "tests/whole of the crate crawl does this, at another port",
    "shorttail crawl frontier my-urls --listen 10.0.0.5:7071": "listens at an address of another machine",
    "shorttail crawl web --seed 7 --hosts 1000 --judge web.log": "nobody has crawled that web",
    "shorttail demo": "the next one is the same, and ends; both would make an index of the whole machine",
    "shorttail hurry --pipe /run/app.pipe --big 0-1 --little 2-5": "names the CPUs of another machine",
    "shorttail hurry --pipe app.pipe --big 0 --pid 4711 --json > moves.jsonl": "names a process of another machine",
    "shorttail lab run --index my-index --queries queries.txt --quick": "takes minutes; the next test runs a part",
    "shorttail lab run partitions smt --index my-index --queries queries.txt --full --against-itself": "takes hours",
    "shorttail lab run partitions --index my-index --queries queries.txt --set governor=performance": "changes the machine",
    "shorttail lab run query-parallelism --index my-index --queries queries.txt":
        "takes minutes; a test of the command line runs a part",
    "shorttail load http://127.0.0.1:7700 --queries queries.txt --rate 150 --writes docs.jsonl"
    " --write-to http://127.0.0.1:7701 --write-rate 1000": "writes to the server that the other examples search",
    "shorttail load http://127.0.0.1:7700 --queries queries.txt --search p99=300ms": "takes minutes",
}
# Examples that make an index, where the others find one.
MAKING = {"shorttail index my-index pages.jsonl --chunks 64 --partitions 4"}
# Commands that go on until Ctrl-C, and what they print when they have begun.
SERVERS = {
    "serve": "listening on",
    "crawl web": "http://127.1.0.1:",
    "crawl frontier": "127.0.0.1:",
    "index-server": "listening on",
    "document-server": "listening on",
    "front-end": "listening on",
    "demo": "the search page, until Ctrl-C",
    "top": "queries",
    "hurry": "",
}
ENDING = {"--once", "--exit"}
DUMP = """<mediawiki><page><title>Release</title><ns>0</ns><id>1</id><revision><id>2</id>
<text>Release '''notes''' of a [[version]].</text></revision></page></mediawiki>
"""
RUN_SECONDS_MAX = 120


# Every command, by the golden file of its help.
GOLDEN = pathlib.Path(__file__).parents[2] / "crates/cli/tests/golden"
NAMES = [file.stem.removeprefix("help").removeprefix("-") for file in sorted(GOLDEN.glob("help*.txt"))]
PATHS = [re.sub(r"^(crawl|lab|model)-", r"\1 ", name).split() for name in NAMES]


def help_of(path):
    """The help text of a command, 100 columns wide; a test of the command line keeps the files current."""
    return (GOLDEN / ("-".join(["help", *path]) + ".txt")).read_text()


def examples(help_text):
    """The commands of a help text's examples, lines that end with a backslash joined."""
    _, _, text = help_text.partition("EXAMPLES:\n")
    lines = [line[4:] for line in text.replace("\\\n", " ").splitlines() if re.match(r"    \S", line)]
    return [re.sub(r" {2,}", " ", line) for line in lines]


@pytest.fixture(scope="module")
def programs(binary, tmp_path_factory):
    """A folder with the program under the name of the examples."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "shorttail").symlink_to(binary.resolve())
    return folder


@pytest.fixture(scope="module")
def demo_index(shorttail, tmp_path_factory):
    """The index that `shorttail demo` makes of this machine."""
    folder = tmp_path_factory.mktemp("demo") / "my-index"
    shorttail("demo", folder, "--exit")
    return folder


class Shell:
    """A folder with all that examples name, in which they are run."""

    def __init__(self, folder, programs, index):
        self.folder = folder
        # Files of an index are never written again, so links to them are as good as copies.
        shutil.copytree(index, folder / "my-index", copy_function=os.link)
        # But the lock of writers is.
        (folder / "my-index/writer.lock").unlink()
        for name, content in inputs().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        documents = (folder / "documents.jsonl").read_bytes()
        (folder / "pages.jsonl").write_bytes(documents)
        (folder / "seiten.jsonl").write_text('{"url": "buch:1", "title": "Ein Buch", "body": "Die Seiten des Buches"}\n')
        (folder / "rules.toml").write_text('synonyms = ["tv, telly"]\nstop_words = ["the"]\n')
        (folder / "posts.csv").write_text("slug,headline,text,summary\nfirst,First,What it says,Short\n")
        (folder / "dump.gz").write_bytes(gzip.compress(documents))
        (folder / "enwiki-pages-articles.xml.bz2").write_bytes(bz2.compress(DUMP.encode()))
        (folder / "update.gz").write_bytes(gzip.compress(documents))
        (folder / "more.jsonl").write_bytes(documents)
        (folder / "documents.jsonl.zst").write_bytes(zstandard.compress(documents))
        self.environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "MANPAGER": "cat",
            "XDG_STATE_HOME": str(folder / "state"),
        }

    def start(self, command):
        return subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, command):
        """Runs a command that ends by itself."""
        process = self.start(command)
        try:
            output, _ = process.communicate(timeout=RUN_SECONDS_MAX)
        finally:
            end(process, signal.SIGKILL)
        assert process.returncode == 0, f"$ {command}\n{output}"
        assert "panicked" not in output
        return output

    def begin(self, command, said):
        """Starts a command, and returns it with what it printed when a line has `said`."""
        process = self.start(command)
        killer = threading.Timer(RUN_SECONDS_MAX, lambda: end(process, signal.SIGKILL))
        killer.start()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if said in line:
                killer.cancel()
                return process, "".join(lines)
        raise AssertionError(f"$ {command}\n{''.join(lines)}")


def end(process, how):
    """Sends a signal to a command and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, how)


def ended(process, command):
    """Ends a command as Ctrl-C does; fails where it does not end well."""
    end(process, signal.SIGINT)
    output = process.stdout.read()
    assert process.wait(RUN_SECONDS_MAX) == 0, f"$ {command}\n{output}"


def inputs():
    """Contents of the files that examples name, by name."""
    words = ["error handling", "thread safe", "memory map", "file format", "release notes"]
    times = [0.2 + (i * 7919 % 1000) / 100 for i in range(2000)]
    document = '{{"url": "https://example.org/{0}", "title": "Page {0}", "body": "Release notes of version {0}."}}\n'
    return {
        "queries.txt": "".join(f"{query}\n" for query in words * 4),
        "typed.txt": '"error handling" +memory -format\n',
        "topics.tsv": "".join(f"{i}\t{query}\n" for i, query in enumerate(words, 1)),
        "documents.jsonl": "".join(document.format(i) for i in range(200)),
        "handbook/a.md": "# Handbook\n\nRelease notes.\n",
        "disk4/fbis/fb396001": "<DOC>\n<DOCNO> FBIS3-1 </DOCNO>\n<TEXT>\nRelease notes.\n</TEXT>\n</DOC>\n",
        "scifact/corpus.jsonl": '{"_id": "4983", "title": "A paper", "text": "Release notes of cells.", "metadata": {}}\n',
        "notes/b.txt": "A note\n\nOf no importance.\n",
        "todo.md": "# To do\n\nRelease notes of the next version.\n",
        "fields.toml": 'title = { type = "text", weight = 3 }\n',
        "urls.txt": "https://example.org/1\nhttps://example.org/none\n",
        "times.csv": "".join(f"{ms:.3f}\n" for ms in times),
        "arrivals.txt": "".join(f"{i * 0.01:.3f}\n" for i in range(1000)),
        ".zfunc/.keep": "",
        ".local/share/bash-completion/completions/.keep": "",
        ".config/fish/completions/.keep": "",
    }


@pytest.fixture(scope="module")
def server(binary, demo_index):
    """Address and admin address of a server of the demo's index."""
    command = [binary, "serve", demo_index, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        admin = re.match(r"admin on http://(\S+)", process.stdout.readline())[1]
        address = re.match(r"listening on http://(\S+)", process.stdout.readline())[1]
        yield address, admin
        process.terminate()


def begun_text(words):
    """What a command prints when it has begun, if it goes on until Ctrl-C."""
    return SERVERS.get(" ".join(words[1:3]), SERVERS.get(words[1]))


def quick(command, server):
    """An example as it is run here: ports of this run, and seconds rather than minutes."""
    if " RUN" in command and command.startswith(("shorttail model", "shorttail plan")):
        # A run of a second beside other tests is labelled, and contradicted by what it cannot know.
        command = command.replace(" --despite contended", "")
        command += " --despite contended,client-limited,unstable,unanswered,contradicted"
    if command.startswith("shorttail model simulate"):
        return command if "--replay" in command or "trace" in command else f"{command} --queries 2000 --runs 2"
    subcommand = command.removeprefix("shorttail ").split()[0]
    if command.startswith("shorttail lab compare"):
        # Runs of a second on a busy machine may all be invalid, which is exit code 1.
        return f"{command} || test $? = 1"
    address, admin = server
    if subcommand in ["load", "top"]:
        command = command.replace("127.0.0.1:7700", address).replace("127.0.0.1:7701", admin)
        command = re.sub(r"--duration \S+", "--duration 1s", command)
        command = command.replace("--every 10s", "--every 1s")
        if subcommand == "load":
            command += ("" if "--duration" in command else " --duration 1s") + " --warm-up 100ms --no-self-check"
            # Beside other tests the client may be late, which is exit code 3.
            command += " --despite client-limited,unstable,unanswered"
        elif admin not in command:
            command += f" {admin}"
        return command
    command = re.sub(r"(?:127\.0\.0\.1|0\.0\.0\.0):\d+", "127.0.0.1:0", command)
    if begun_text(command.split()) and "--listen" not in command and "--exit" not in command:
        command += " --listen 127.0.0.1:0"
    return command


def prepared(path, shell, server):
    """Makes what the examples of a command need beside the common files. Returns processes that must run meanwhile."""
    load = f"shorttail load http://{server[0]} --queries queries.txt --rate 50 --duration 1s --no-self-check " \
        "--despite client-limited,unstable,unanswered --save"
    if path == ["lab", "compare"] or path == ["lab"]:
        shell.run(f"{load} before && {load} after")
    if path in (["lab", "report"], ["lab"]):
        shell.run("shorttail lab run response-distribution --index my-index --queries queries.txt --duration 300ms")
    if path == ["model", "simulate"]:
        shell.run(f"{load} RUN && cp arrivals.txt FILE")
    if path == ["plan"]:
        shell.run(f"{load} RUN")
    if path == ["plan"] or path == ["model", "tco"]:
        shell.run("shorttail model tco --print > costs.toml")
    if path[:1] == ["crawl"]:
        site, said = shell.begin("python3 -u -m http.server 0 --bind 127.0.0.1 --directory handbook", "Serving")
        address = re.search(r"http://[0-9.:]+/", said)[0]
        shell.run(f"shorttail crawl my-docs {address} --owned --allow-addresses 127.0.0.0/8")
        if path in (["crawl"], ["crawl", "replay"]):
            crawl_by_members(shell, address, ["a", "b", "c"])
        return [site]
    if path in (["serve"], ["index-server"], ["document-server"]):
        (shell.folder / "indexes").mkdir()
    if path == ["restore"]:
        shell.run("shorttail snapshot my-index --into my-backup")
    if path != ["front-end"]:
        return []
    index, said = shell.begin("shorttail index-server my-index --listen 127.0.0.1:0", "listening on")
    texts, also_said = shell.begin("shorttail document-server my-index --listen 127.0.0.1:0", "listening on")
    tables = ""
    for kind, text in [("index-server", said), ("document-server", also_said)]:
        address = re.search(r"listening on (?:http://)?(\S+)", text)[1]
        tables += f'[[{kind}]]\naddress = "{address}"\nchunks = "0-1"\n'
    (shell.folder / "cluster.toml").write_text("chunks = 2\n" + tables)
    return [index, texts]


def crawl_by_members(shell, address, names):
    """Crawls a site by members, each into docs-NAME, as crawl.toml says."""
    tables = f'allow_addresses = ["127.0.0.0/8"]\nmembers_wait_s = 1\n[[site]]\nseeds = ["{address}"]\nowned = true\n'
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    for name, listener in zip(names, listeners):
        tables += f'[[member]]\nname = "{name}"\naddress = "127.0.0.1:{listener.getsockname()[1]}"\n'
        listener.close()
    (shell.folder / "crawl.toml").write_text(tables)
    crawls = [f"shorttail crawl docs-{name} crawl.toml --member {name}" for name in names]
    shell.run(" & ".join(crawls) + " & wait $(jobs -p)")


def test_every_command_is_tried(shorttail):
    assert sorted(PATHS) == sorted(commands(shorttail))


def test_what_is_left_out_exists():
    all_examples = {example for path in PATHS for example in examples(help_of(path))}
    assert (set(LEFT_OUT) | MAKING) - all_examples == set()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: " ".join(["shorttail", *path]))
def test_examples_work_on_the_index_of_the_demo(path, demo_index, programs, server, tmp_path):
    shell = Shell(tmp_path / "folder", programs, demo_index)
    beside = prepared(path, shell, server)
    shown = examples(help_of(path))
    tried = [example for example in shown if example not in LEFT_OUT]
    assert tried or path == ["lab", "run"], "no example is tried"
    try:
        for example in tried:
            if example in MAKING:
                shutil.rmtree(shell.folder / "my-index")
            command = quick(example, server)
            words = shlex.split(command)
            begun = "nothing to do" if "--watch" in words else begun_text(words)
            if begun is not None and not ENDING & set(words):
                process, _ = shell.begin(command.split(" > ")[0], begun)
                ended(process, command)
            else:
                shell.run(command)
    finally:
        for process in beside:
            # A background process may ignore SIGINT.
            end(process, signal.SIGTERM)
            process.wait(RUN_SECONDS_MAX)
