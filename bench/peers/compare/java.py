"""Choice of the JDK that runs Lucene."""

import os
import pathlib
import re
import shutil
import subprocess

VERSION_MIN = 21
VECTOR_MODULE = "jdk.incubator.vector"
PLACES = ["/usr/lib/jvm/*", "/opt/*", "~/.jdks/*", "~/.sdkman/candidates/java/*",
          "/Library/Java/JavaVirtualMachines/*/Contents/Home"]


class Unavailable(Exception):
    """An engine is unavailable on this machine; the message has the reason and a remedy."""


def find():
    """Returns (path of `java`, version) of the newest suitable JDK. PEERS_JAVA overrides the choice."""
    named = os.environ.get("PEERS_JAVA")
    found = {java: version_of(java) for java in ([named] if named else candidates())}
    java = max(found, key=lambda java: found[java], default=None)
    if java is None or found[java] < VERSION_MIN:
        seen = ", ".join(f"{java} is {found[java] or 'none'}" for java in found) or "none found"
        raise Unavailable(f"needs a JDK of version {VERSION_MIN} or later with its compiler and the "
                          f"module {VECTOR_MODULE} ({seen}); install one, or name its `java` in "
                          "PEERS_JAVA")
    return java, found[java]


def candidates():
    homes = [os.environ["JAVA_HOME"]] if os.environ.get("JAVA_HOME") else []
    for pattern in PLACES:
        path = pathlib.Path(pattern).expanduser()
        homes += pathlib.Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    javas = {str(pathlib.Path(home) / "bin/java") for home in homes}
    on_path = shutil.which("java")
    javas |= {os.path.realpath(on_path)} if on_path else set()
    return sorted(java for java in javas if os.access(java, os.X_OK))


def version_of(java):
    """Returns its major version; 0 if it is no JDK, or lacks the compiler or the vector module."""
    try:
        if not (pathlib.Path(java).resolve().parent / "javac").exists():
            return 0
        text = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
        modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True).stdout
    except OSError:
        return 0
    version = re.search(r'version "(\d+)', text)
    return int(version[1]) if version and VECTOR_MODULE in modules else 0
