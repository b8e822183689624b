"""The engines that are compared: their builds and their commands."""

import hashlib
import os
import pathlib
import subprocess

from compare import java
from compare.java import Unavailable
from compare.places import PEERS, ROOT, WORK


class Engine:
    """A program that speaks the protocol. `build` comes first, and raises Unavailable."""

    # Passes and seconds before times are taken: until caches are warm.
    warm_passes = 3
    warm_s = 0.0

    def __init__(self, name, title):
        self.name = name
        self.title = title
        self.folder = PEERS / name
        self.build_folder = WORK / "build" / name

    def remark(self, log):
        """Returns remarks for readers of the figures, from the log of the serving program."""

    def run_build(self, command, environment):
        """Runs a build at low priority; prints its output only if it fails."""
        self.build_folder.mkdir(parents=True, exist_ok=True)
        log = self.build_folder / "build.log"
        try:
            with open(log, "w") as file:
                done = subprocess.run(command, cwd=self.folder, stdout=file, stderr=file,
                                      env={**os.environ, **environment},
                                      preexec_fn=lambda: os.nice(10))
        except FileNotFoundError:
            raise Unavailable(f"needs `{command[0]}`, which is not installed") from None
        if done.returncode != 0:
            lines = log.read_text(errors="replace").strip().splitlines() or ["no reason given"]
            errors = (line for line in lines if line.lower().startswith(("error", "[error]")))
            raise Unavailable(f"does not build: {next(errors, lines[-1])[:200]} (all of it in {log})")


class RustEngine(Engine):
    """An engine in Rust: from the crate registry, or from this repository."""

    def build(self):
        # These libraries choose no kernels at run time, so they are compiled for this processor.
        environment = {"CARGO_TARGET_DIR": str(self.build_folder),
                       "RUSTFLAGS": os.environ.get("PEERS_RUSTFLAGS", "-C target-cpu=native")}
        locked = ["--locked"] if (self.folder / "Cargo.lock").exists() else []
        self.run_build(["cargo", "build", "--release", *locked], environment)

    @property
    def program(self):
        return self.build_folder / "release" / f"peer-{self.name}"

    def fingerprint(self):
        """Returns a digest of the program, so that indexes of an older one are not used."""
        return hashlib.sha256(self.program.read_bytes()).hexdigest()[:16]

    def index_command(self):
        return [str(self.program), "index"]

    def serve_command(self):
        return [str(self.program), "serve"]


class Shorttail(RustEngine):
    """The project's own crates, built as it is shipped (profile `dist`), with its versions."""

    def build(self):
        # Compiled for any processor: the program chooses its kernels when it starts.
        environment = {"CARGO_TARGET_DIR": str(self.build_folder),
                       "RUSTFLAGS": os.environ.get("SHORTTAIL_RUSTFLAGS", "")}
        self.run_build(["cargo", "build", "--locked", "--profile", "dist", "-p", "peer-shorttail"], environment)

    @property
    def program(self):
        return self.build_folder / "dist" / f"peer-{self.name}"


class Built(RustEngine):
    """A program that is built already: the project's own, of an earlier commit."""

    def __init__(self, name, title, program):
        super().__init__(name, title)
        self.built = program

    def build(self):
        if not self.program.is_file():
            raise Unavailable(f"{self.program}: no such program")

    @property
    def program(self):
        return self.built


class Lucene(Engine):
    """Lucene, by Maven, on the newest JDK there is, with its vector module."""

    # The JIT compiler has threads of its own: times settle after some 40,000 queries, and later if other
    # work delays those threads.
    warm_passes = 50
    warm_s = 15.0

    def build(self):
        self.java, self.version = java.find()
        home = pathlib.Path(self.java).resolve().parents[1]
        self.run_build(
            ["mvn", "-q", "-B", f"-Dbuild.folder={self.build_folder}",
             "compile", "dependency:copy-dependencies",
             f"-DoutputDirectory={self.build_folder / 'lib'}"],
            {"JAVA_HOME": str(home)})

    def remark(self, log):
        if "vector incubator API enabled" not in log:
            return "Lucene runs without its vector module"

    def fingerprint(self):
        digest = hashlib.sha256(str(self.version).encode())
        for path in sorted([self.folder / "pom.xml", *self.folder.glob("src/**/*.java")]):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]

    def command(self, *options):
        classes = f"{self.build_folder / 'classes'}:{self.build_folder / 'lib'}/*"
        return [self.java, "--add-modules", java.VECTOR_MODULE,
                "--enable-native-access=ALL-UNNAMED", *options, "-cp", classes,
                "peers.LucenePeer"]

    def index_command(self):
        heap = os.environ.get("PEERS_INDEX_HEAP", "4g")
        return [*self.command(f"-Xmx{heap}"), "index"]

    def serve_command(self):
        heap = os.environ.get("PEERS_SERVE_HEAP", "2g")
        # A serial collector and a heap of fixed size: no collector thread runs beside the queries.
        return [*self.command("-XX:+UseSerialGC", f"-Xms{heap}", f"-Xmx{heap}"), "serve"]


SHORTTAIL = "shorttail"
BEFORE = "before"
ALL = {engine.name: engine for engine in [
    Shorttail(SHORTTAIL, "Shorttail"),
    Lucene("lucene", "Lucene"),
    RustEngine("tantivy", "Tantivy"),
    RustEngine("seekstorm", "SeekStorm"),
]}
# The reference for best hits: the first of these engines that is available.
REFERENCES = ["lucene", "tantivy"]


def build(names, report):
    """Builds the engines named. Returns those that are there, and why the others are not."""
    built, skipped = [], {}
    for name in names:
        report(f"building {ALL[name].title}")
        try:
            ALL[name].build()
            built.append(ALL[name])
        except Unavailable as reason:
            skipped[ALL[name].title] = str(reason)
            report(f"{ALL[name].title} is left out: {reason}")
    return built, skipped
