"""Licences of the libraries in the program: which crates, and the texts that they ask to be passed on."""

import collections
import json
import pathlib
import re
import subprocess

# Names of files with a licence or a notice, in the root of a crate.
TEXTS = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def crates(root, target):
    """Returns the metadata of every crate that is compiled into the program for `target`, in the order of names."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    said = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout
    metadata = json.loads(said)
    by_id = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    to_visit = [one["id"] for one in metadata["packages"] if one["name"] == "shorttail-cli"]
    seen = set()
    while to_visit:
        crate = to_visit.pop()
        if crate not in seen:
            seen.add(crate)
            for dependency in nodes[crate]["deps"]:
                if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                    to_visit.append(dependency["pkg"])
    others = [by_id[one] for one in seen if one not in metadata["workspace_members"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def text(root, target):
    """Returns the list of crates with their licences and sources, then every text once, with the crates that have it."""
    lines = ["Libraries in the program `shorttail`: licence and source of each, then the texts of the licences.", ""]
    texts = collections.defaultdict(list)
    for package in crates(root, target):
        name = f"{package['name']} {package['version']}"
        source = package["repository"] or f"crate {package['name']}"
        lines.append(f"{name}: {package['license'] or 'see its text below'}; {source}")
        for file in sorted(pathlib.Path(package["manifest_path"]).parent.iterdir()):
            if TEXTS.match(file.name) and file.is_file():
                texts[file.read_text(encoding="utf-8", errors="replace").strip()].append(name)
    for licence, names in sorted(texts.items(), key=lambda entry: entry[1]):
        lines += ["", "-" * 80, ", ".join(dict.fromkeys(names)), "", licence]
    return "\n".join(lines) + "\n"
