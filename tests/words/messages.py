"""The messages of a catalogue, read with Fluent's own parser."""

from collections.abc import Mapping
from functools import cache

from fluent.syntax import FluentParser
from fluent.syntax.ast import Junk, Message, MessageReference, VariableReference
from fluent.syntax.visitor import Visitor

from gradwalk.words.catalogue import LANGUAGE, read_catalogue

COUNTS = {"count", "seeds"}
"""Operands that are numbers wherever they choose a plural."""


@cache
def messages_of(language: str = LANGUAGE) -> dict[str, Message]:
    """By name, in the order of the file."""
    body = FluentParser().parse(read_catalogue(language)).body
    assert [entry.content for entry in body if isinstance(entry, Junk)] == []
    messages = [entry for entry in body if isinstance(entry, Message)]
    found = {message.id.name: message for message in messages}
    assert len(found) == len(messages), "a key is there twice"
    return found


class _Operands(Visitor):
    """The variables of a pattern, and of the messages that it refers to."""

    def __init__(self, messages: Mapping[str, Message]) -> None:
        self.names: set[str] = set()
        self._messages = messages

    def visit_MessageReference(self, node: MessageReference) -> None:  # noqa: N802 (the visitor's own convention)
        message = self._messages[node.id.name]
        parts = {attribute.id.name: attribute.value for attribute in message.attributes}
        self.visit(message.value if node.attribute is None else parts[node.attribute.name])

    def visit_VariableReference(self, node: VariableReference) -> None:  # noqa: N802 (the visitor's own convention)
        self.names.add(node.id.name)


def operands_of(message: Message, messages: Mapping[str, Message]) -> set[str]:
    """What a message is filled in with, in any of its parts; `messages` are those of its language."""
    found = _Operands(messages)
    found.visit(message)
    return found.names
