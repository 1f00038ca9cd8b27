"""Writes the reference of the command line from its parsers, when the site is built."""

from typing import Any

from frri.cli import COMMANDS, OWN, _command

MARK = "<!-- command line reference -->"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the help of every command into the page of the reference."""
    return (
        markdown.replace(MARK, reference()) if page.file.src_uri == "reference/cli.md" else markdown
    )


def reference() -> str:
    """Return a section with the help of each command."""
    parts = []
    for name, text in COMMANDS.items():
        if name not in OWN:
            help_text = _command(name)[1].format_help().rstrip()
            parts.append(f"## frri {name}\n\n{text[0].upper()}{text[1:]}.\n\n```\n{help_text}\n```")
    return "\n\n".join(parts)
