"""YAML text to a tree, by parser events and a stack of our own.

So there is no recursion to exhaust, no tag that constructs an object, and duplicate keys are seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from exporter.config.problem import Problem
from exporter.config.scalar import resolve
from exporter.config.tree import Document, Node, Plain, join

MAX_DEPTH = 20
MAX_VALUES = 200_000
"""Bound on values after aliases are expanded; 1,000 targets of one probe each have about 20,000."""


class YamlSyntaxError(Exception):
    """The text is not one well-formed YAML document.  ``problem`` says where and why."""

    def __init__(self, line: int, text: str) -> None:
        self.problem = Problem(line, "", text)
        super().__init__(text)


def parse(text: str) -> Document:
    """Parse exactly one YAML document.  Raises YamlSyntaxError."""
    builder = _Builder()
    for event in _events(text):
        builder.take(event)
    if builder.root is None or builder.root.value is None:
        raise YamlSyntaxError(1, "the file is empty; docs/configuration.md has an example to start from")
    return Document(builder.root, _Expansion(builder.root.line).plain(builder.root), tuple(builder.problems))


def _events(text: str) -> Iterator[yaml.Event]:
    """Yield parser events, by libyaml where it is installed.

    Its error messages differ from those of PyYAML's own parser, which is therefore asked again on an error.
    """
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is not None:
        try:
            yield from list(yaml.parse(text, Loader=fast))
        except (yaml.YAMLError, UnicodeError):
            pass
        else:
            return
    try:
        yield from yaml.parse(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlSyntaxError(
            line, f"a control character (code {error.character}) stands here; remove it"
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise YamlSyntaxError(1 if mark is None else mark.line + 1, _syntax_text(error)) from error


def _syntax_text(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "cannot be read"
    if r"'\t'" in problem:
        return "a tab indents this line; YAML takes spaces only"
    if problem.startswith("mapping values are not allowed"):
        return "not valid YAML: a second ': ' on the line, or wrong indentation; put text with ': ' in quotes"
    if "'%'" in problem or "'@'" in problem or "'`'" in problem:
        return f"not valid YAML: {problem}; put the text in quotes"
    where = f" {error.context}" if error.context else ""
    return f"not valid YAML: {problem}{where}; check indentation, brackets and quotes up to here"


@dataclass(slots=True)
class _Open:
    """A list or mapping that is not closed yet, and the key whose value comes next."""

    node: Node
    path: str
    key: str | None = None
    key_line: int = 0

    def next_path(self) -> str:
        """Return the path of the value that comes next."""
        value = self.node.value
        return join(self.path, len(value) if isinstance(value, list) else self.key or "")


@dataclass(slots=True)
class _Builder:
    root: Node | None = None
    problems: list[Problem] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)

    def take(self, event: yaml.Event) -> None:
        """Take one event in.  Raises YamlSyntaxError for YAML that a configuration has no use for."""
        line = 1 if event.start_mark is None else event.start_mark.line + 1
        if getattr(event, "tag", None) is not None:
            raise YamlSyntaxError(
                line, "YAML tags (!...) are not supported; put text that begins with ! in quotes"
            )
        match event:
            case yaml.DocumentStartEvent() if self.root is not None:
                raise YamlSyntaxError(line, "a second document starts here; keep one document a file")
            case yaml.ScalarEvent(value=word, implicit=implicit):
                self._scalar(line, word, is_plain=implicit[0], anchor=event.anchor)
            case yaml.AliasEvent(anchor=name):
                self._alias(line, name)
            case yaml.SequenceStartEvent():
                self._open(Node(line, []), event.anchor)
            case yaml.MappingStartEvent():
                self._open(Node(line, {}), event.anchor)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self.stack.pop()
            case _:
                pass

    def _scalar(self, line: int, word: str, *, is_plain: bool, anchor: str | None) -> None:
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise YamlSyntaxError(
                line, "half a surrogate pair (\\ud800 to \\udfff); write the character itself"
            )
        if self.stack and isinstance(self.stack[-1].node.value, dict) and self.stack[-1].key is None:
            self.stack[-1].key, self.stack[-1].key_line = word, line
            return
        self._put(Node(line, resolve(word) if is_plain else word), anchor)

    def _alias(self, line: int, name: str | None) -> None:
        node = self.anchors.get(name or "")
        if node is None:
            raise YamlSyntaxError(line, "this alias (*) has no anchor (&) above it; check the name")
        if any(opened.node is node for opened in self.stack):
            raise YamlSyntaxError(
                line, "this alias (*) stands inside its own anchor (&); write the values out"
            )
        self._put(node, None)

    def _open(self, node: Node, anchor: str | None) -> None:
        path = self.stack[-1].next_path() if self.stack else ""
        self._put(node, anchor)
        if len(self.stack) == MAX_DEPTH:
            raise YamlSyntaxError(
                node.line, f"nested deeper than {MAX_DEPTH} levels; check the brackets and indentation"
            )
        self.stack.append(_Open(node, path))

    def _put(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        if isinstance(top.node.value, list):
            top.node.value.append(node)
        elif isinstance(top.node.value, dict):
            if top.key is None:
                raise YamlSyntaxError(node.line, "a key must be a plain word; check the brackets")
            self._put_key(top, top.node.value, top.key, node)
            top.key = None

    def _put_key(self, top: _Open, mapping: dict[str, Node], key: str, node: Node) -> None:
        if key == "<<":
            text = "merge keys (<<) are not supported; use `defaults`, or an alias for a whole value"
            self.problems.append(Problem(top.key_line, top.next_path(), text))
        elif key in mapping:
            text = f"the key `{key}` stands twice, here and on line {top.node.lines[key]}; remove one"
            self.problems.append(Problem(top.key_line, top.next_path(), text))
        else:
            mapping[key] = node
            top.node.lines[key] = top.key_line


@dataclass(slots=True)
class _Expansion:
    """Turn the tree into plain values, aliases written out, within the bounds."""

    line: int
    values: int = 0

    def plain(self, node: Node, depth: int = 0) -> Plain:
        self.values += 1
        if self.values > MAX_VALUES or depth > MAX_DEPTH:
            text = (
                f"more than {MAX_VALUES} values or {MAX_DEPTH} levels with aliases (*) written out; use fewer"
            )
            raise YamlSyntaxError(self.line, text)
        if isinstance(node.value, list):
            return [self.plain(item, depth + 1) for item in node.value]
        if isinstance(node.value, dict):
            return {key: self.plain(item, depth + 1) for key, item in node.value.items()}
        return node.value
