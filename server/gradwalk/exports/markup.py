"""HTML from the templates beside this file, in which every value is escaped but what was made for a script element."""

import json
import re
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape


def mark_up(text: str) -> Markup:
    """A sentence, with what stands between backticks as code."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 (escaped)


def script_json(value: Any) -> Markup:
    """JSON that may stand inside a script element, whatever strings are in it."""
    return inside_script(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def inside_script(text: str) -> Markup:
    """Written JSON, so that nothing in it ends the script element."""
    quiet = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return Markup(quiet)  # noqa: S704 (no `<` is left)


def script_code(source: str) -> Markup:
    """JavaScript that may stand inside a script element: what would end it or open a comment only occurs in strings."""
    return Markup(source.replace("</script", "<\\/script").replace("<!--", "<\\!--"))  # noqa: S704


def render(template: str, **values: Any) -> str:
    """A page, or a part of one: `noscript.html`. A value that the template names and nobody gives is an error."""
    return _ENVIRONMENT.get_template(template).render(values)


_ENVIRONMENT: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.filters |= {"code": mark_up, "indented": lambda value: json.dumps(value, indent=2)}
