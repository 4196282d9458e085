"""Tables of comparisons with Triton: in Markdown, printed or put into a page."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "results.md"


def row(*cells: object) -> str:
    """A line of a table."""
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |"


def put_tables(tables: dict[str, list[str]], on_page: bool, page: pathlib.Path = PAGE) -> None:
    """Puts each table between its marks on the page, or prints all."""
    if not on_page:
        print("\n\n".join(f"{name}\n" + "\n".join(lines) for name, lines in tables.items()))
        return
    text = page.read_text()
    for name, lines in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1]
    page.write_text(text)
