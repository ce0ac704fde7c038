"""A parsed file as a tree that remembers on which line everything stood."""

from dataclasses import dataclass, field

from exporter.config.leaks import Location
from exporter.config.problem import Problem
from exporter.config.scalar import Scalar


@dataclass(slots=True)
class Node:
    """A value and the line it starts on.  ``lines`` holds the line of each key of a mapping."""

    line: int
    value: "Scalar | list[Node] | dict[str, Node]"
    lines: dict[str, int] = field(default_factory=dict)

    def child(self, part: str | int) -> "tuple[Node, int] | None":
        """Return the item or value under one part of a location and its line, or None."""
        if isinstance(self.value, dict) and isinstance(part, str) and part in self.value:
            return self.value[part], self.lines[part]
        if isinstance(self.value, list) and isinstance(part, int) and part < len(self.value):
            return self.value[part], self.value[part].line
        return None


Plain = Scalar | list["Plain"] | dict[str, "Plain"]


def grown(plain: Plain, line: int) -> Node:
    """Return the tree of plain values that come from no file, all on one line."""
    if isinstance(plain, list):
        return Node(line, [grown(item, line) for item in plain])
    if isinstance(plain, dict):
        return Node(line, {key: grown(item, line) for key, item in plain.items()}, dict.fromkeys(plain, line))
    return Node(line, plain)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole file: the tree, the same as plain values, and what the syntax alone shows to be wrong."""

    root: Node
    plain: Plain
    problems: tuple[Problem, ...]

    def problem(self, location: Location, text: str) -> Problem:
        """Return the problem with the line and the path of the location.

        A location may go deeper than the file does: the line is then that of what is there.
        """
        node, line, path = self.root, self.root.line, ""
        for part in location:
            found = node.child(part)
            if found is not None:
                node, line = found
            elif not isinstance(node.value, dict):
                # What pydantic adds below a value names a member of a union, and is no key of the file.
                break
            path = join(path, part)
        return Problem(line, path, text)


def join(path: str, part: str | int) -> str:
    """Return the path one key or index deeper, as people write it: ``targets[0].name``."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    return f"{path}.{part}" if path else part
