"""The graph of modules of a crate, read from its sources without a compiler.

A module is a file. An edge a -> b says that the code of a names an item that b defines:

- a path through `crate`, `self`, `super`, a child or an import leads to the file that defines the item,
  through any number of re-exports;
- `mod b;` and the re-export of a descendant make no edge; the re-export of any other module does;
- the import of a module makes no edge, but each path through it does.

Comments, literals and code under `#[cfg(test)]` do not count. Methods are found by the compiler, not by name, so
a call of a method makes no edge.
"""

import bisect
import re
from collections import deque

TOKEN = re.compile(
    r"""//[^\n]*|/\*|b?r(?P<hashes>\#*)"|b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\[^\n][^'\n]*)'""", re.DOTALL
)
CFG_TEST = re.compile(r"#\[cfg\((?:test|all\((?:[^()]*,)?\s*test\b[^\]]*)\)\]")
ATTRIBUTE = re.compile(r"\s*#\[")
ITEM = re.compile(
    r"\s*(?:pub(?:\s*\([^)]*\))?\s+)?(use|const\s+(?!fn)|static|type|let|"
    r"fn|mod|struct|enum|trait|impl|unsafe|extern|async|const\s+fn|macro_rules)\b"
)
TO_SEMICOLON = ("use", "const", "static", "type", "let")
USE = re.compile(r"(?<![\w.])(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]+);")
DEFINED = re.compile(
    r"\b(?:fn|struct|enum|trait|const|static|type|union)\s+(?:mut\s+)?([A-Za-z_]\w*)|macro_rules!\s*(\w+)"
)
INLINE = re.compile(r"\bmod\s+(\w+)\s*\{")
PATH = re.compile(r"(?<![\w:.$'])(\$?[A-Za-z_]\w*)((?:\s*::\s*[A-Za-z_]\w*)*)")
FILE_DECLARED = re.compile(r"\bmod\s+(\w+)\s*;")


def blanked(text):
    """Same length and lines, with comments and literals as spaces."""
    out, at = [], 0
    while found := TOKEN.search(text, at):
        begin, end = found.span()
        if found[0] == "/*":
            depth = 1
            while depth and (mark := re.compile(r"/\*|\*/").search(text, end)):
                depth += 1 if mark[0] == "/*" else -1
                end = mark.end()
        elif found["hashes"] is not None:
            if begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
                out.append(text[at:end])  # the end of a name, as in `for"`
                at = end
                continue
            close = text.find('"' + found["hashes"], end)
            end = len(text) if close < 0 else close + 1 + len(found["hashes"])
        out += [text[at:begin], re.sub(r"[^\n]", " ", text[begin:end])]
        at = end
    return "".join(out) + text[at:]


def item_end(code, at):
    """End of the item, field or statement that begins at `at`, its attributes included."""
    while found := ATTRIBUTE.match(code, at):
        at, depth = found.end(), 1
        while depth and at < len(code):
            depth += {"[": 1, "]": -1}.get(code[at], 0)
            at += 1
    item = ITEM.match(code, at)
    semicolon = item and item[1].split()[0] in TO_SEMICOLON and not item[1].endswith("fn")
    depth = 0
    while at < len(code):
        char = code[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                return at
            if depth == 0 and char == "}" and not semicolon:
                return at + 1
        elif depth == 0 and (char == ";" or (char == "," and not item)):
            return at + 1
        at += 1
    return at


def without_tests(code):
    """The code with items under `#[cfg(test)]` as spaces, and the names of the files that they declare."""
    declared = []
    while found := CFG_TEST.search(code):
        end = item_end(code, found.end())
        declared += FILE_DECLARED.findall(code[found.end() : end])
        code = code[: found.start()] + re.sub(r"[^\n]", " ", code[found.start() : end]) + code[end:]
    return code, declared


def leaves(tree):
    """`(segments, alias)` of every leaf of a use tree; the alias of a glob is `*`."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace >= 0:
        prefix = [s.strip() for s in tree[:brace].split("::") if s.strip()]
        depth, start, parts = 0, 0, []
        inner = tree[brace + 1 : tree.rfind("}")]
        for at, char in enumerate(inner + ","):
            depth += {"{": 1, "}": -1}.get(char, 0)
            if char == "," and depth == 0:
                parts.append(inner[start:at])
                start = at + 1
        for part in filter(str.strip, parts):
            for segments, alias in leaves(part):
                if segments == ["self"]:
                    yield prefix, prefix[-1] if alias == "self" else alias
                else:
                    yield prefix + segments, alias
        return
    path, _, alias = re.sub(r"\s+", " ", tree).partition(" as ")
    segments = [s.strip() for s in path.split("::") if s.strip()]
    if segments and segments[-1] == "*":
        yield segments[:-1], "*"
    elif segments:
        yield segments, alias.strip() or segments[-1]


class Module:
    """One file: its names, its imports and the code that is left when tests and imports are blanked."""

    def __init__(self, path, file, code):
        self.path, self.file = path, file
        self.lines = [m.start() for m in re.finditer("\n", code)]
        self.uses = []  # (segments, alias, public, line)
        for found in USE.finditer(code):
            line = self.line(found.start())
            self.uses += [(s, a, bool(found[1]), line) for s, a in leaves(found[2])]
        self.code = USE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), code)
        self.inline = set(INLINE.findall(self.code))
        depth, depths = 0, []
        for char in self.code:
            depth += {"{": 1, "}": -1}.get(char, 0)
            depths.append(depth)
        inside = 1 if self.inline else 0
        self.defined = {m[1] or m[2] for m in DEFINED.finditer(self.code) if depths[m.start()] <= inside}
        self.defined |= self.inline

    def line(self, at):
        return bisect.bisect_left(self.lines, at) + 1


class Crate:
    """The modules of one crate, by path, from its sources by path under `src/`."""

    def __init__(self, sources):
        self.modules, tests = {}, []
        for file, text in sorted(sources.items()):
            parts = file.removesuffix(".rs").split("/")
            path = tuple(parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)
            if parts == ["main"] and "lib.rs" in sources or parts[0] == "bin":
                continue  # another crate, of one file
            code, declared = without_tests(blanked(text))
            tests += [(*path, name) for name in declared]
            self.modules[path] = Module(path, file, code)
        for path in list(self.modules):
            if any(path[: len(test)] == test for test in tests):
                del self.modules[path]

    def resolve(self, path, segments, seen=()):
        """`(module, is_item)` that `segments` lead to from inside the module `path`; None outside of the crate."""
        if not segments:
            return path, False
        head, rest = segments[0], segments[1:]
        if head in ("crate", "$crate"):
            return self.resolve((), rest, seen)
        if head == "self":
            return self.resolve(path, rest, seen)
        if head == "super":
            return self.resolve(path[:-1], rest, seen)
        module = self.modules[path]
        child = (*path, head)
        if child in self.modules and (rest or head not in module.defined):
            return self.resolve(child, rest, seen)
        if head in module.defined:
            return path, True
        key = (path, head)
        if key in seen:
            return None
        for target, alias, _, _ in module.uses:
            if alias == head:
                found = self.resolve(path, target, (*seen, key))
                if found and not found[1]:
                    return self.resolve(found[0], rest, (*seen, key))
                return found
        for target, alias, _, _ in module.uses:
            if alias == "*":
                found = self.resolve(path, target, (*seen, key))
                if found and not found[1] and found[0] != path:
                    inner = self.resolve(found[0], segments, (*seen, key))
                    if inner:
                        return inner
        return None

    def edges(self):
        """`{module: {module: line}}`, the line being the first that makes the edge."""
        graph = {path: {} for path in self.modules}
        for path, module in self.modules.items():

            def edge(found, line, path=path):
                if found and found[0] != path:
                    graph[path].setdefault(found[0], line)

            for segments, alias, public, line in module.uses:
                found = self.resolve(path, segments)
                if not found or alias == "*" or not found[1]:
                    continue
                reexport_of_descendant = public and found[0][: len(path)] == path
                if not reexport_of_descendant:
                    edge(found, line)
            names = {alias for _, alias, _, _ in module.uses}
            globs = [s for s, alias, _, _ in module.uses if alias == "*"]
            for found in PATH.finditer(module.code):
                head = found[1]
                rest = [s.strip() for s in found[2].split("::") if s.strip()]
                if not rest and (head in module.defined or (head not in names and not globs)):
                    continue
                segments = [head, *rest]
                if head in ("super", "self") and module.inline:
                    segments = self.from_inline(module, found.start(), segments)
                if not rest and ((*path, head) in self.modules or head in ("self", "super", "crate")):
                    continue  # a local variable named as a child module, or a visibility
                target = self.resolve(path, segments)
                if target and target[1] is False and len(rest):
                    continue  # `pub(in crate::a)`: a module, no item of it
                if target and target[1]:
                    edge(target, module.line(found.start()))
        return graph

    @staticmethod
    def from_inline(module, at, segments):
        """The path as the file sees it: inside `mod x { … }`, the first `super` is the file itself."""
        for found in INLINE.finditer(module.code):
            if found.start() < at < item_end(module.code, found.start()) and segments[0] == "super":
                return ["self", *segments[1:]]
        return segments


def components(graph):
    """Strongly connected components of two or more modules."""

    def reached(start, links):
        seen, todo = {start}, [start]
        while todo:
            for other in links[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    back = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            back[target].append(node)
    left, found = set(graph), []
    while left:
        node = min(left)
        component = reached(node, graph) & reached(node, back)
        left -= component
        if len(component) > 1:
            found.append(component)
    return found


def shortest_cycle(graph, component):
    """The modules of a shortest cycle inside a component, the first repeated at the end."""
    best = None
    for start in sorted(component):
        came, todo = {start: None}, deque([start])
        while todo:
            node = todo.popleft()
            if start in graph[node]:
                way = [start]
                while node is not None:
                    way.append(node)
                    node = came[node]
                way.reverse()
                if best is None or len(way) < len(best):
                    best = way
                break
            for other in sorted(graph[node]):
                if other in component and other not in came:
                    came[other] = node
                    todo.append(other)
    return best


def cycles(sources):
    """`(modules in cycles, one line for the shortest cycle of each component)` of a crate."""
    crate = Crate(sources)
    graph = crate.edges()
    found = components(graph)
    lines = []
    for component in found:
        way = shortest_cycle(graph, component)
        names = " -> ".join("::".join(path) or "crate" for path in way)
        places = ", ".join(f"{crate.modules[a].file}:{graph[a][b]}" for a, b in zip(way, way[1:]))
        lines.append(f"{names} ({places}); {len(component)} modules in all")
    return sum(map(len, found)), lines


def folder_cycles(sources):
    """One line for the shortest cycle of each component of folders that lie side by side in a crate."""
    crate = Crate(sources)
    folders = {path.rsplit("/", 1)[0] for path in sources if "/" in path}
    # By the folder around them: edges between folders, each with a place that makes it.
    graphs = {}
    for a, targets in crate.edges().items():
        for b, line in targets.items():
            shared = 0
            while shared < min(len(a), len(b)) and a[shared] == b[shared]:
                shared += 1
            one, other = a[: shared + 1], b[: shared + 1]
            if one != other and all("/".join(path) in folders for path in (one, other)):
                graph = graphs.setdefault(a[:shared], {})
                graph.setdefault(other, {})
                graph.setdefault(one, {}).setdefault(other, f"{crate.modules[a].file}:{line}")
    lines = []
    for graph in graphs.values():
        for component in components(graph):
            way = shortest_cycle(graph, component)
            places = ", ".join(graph[a][b] for a, b in zip(way, way[1:]))
            lines.append(" -> ".join("/".join(path) for path in way) + f" ({places})")
    return lines
