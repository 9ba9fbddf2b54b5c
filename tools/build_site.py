"""Build the documentation site from docs/ into build/site: `make docs`, or `python tools/build_site.py`.

The Markdown of docs/ is staged in build/docs together with generated pages: the reference (tools/reference.py), the
notebooks, and each source file that a page links to. Zensical makes HTML of it (zensical.toml). The result needs no
network: `external` lists what a page would load from elsewhere, and the build fails if there is anything.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import reference

ROOT = Path(__file__).parents[1]
DOCS, BUILD, CONFIG = ROOT / "docs", ROOT / "build", ROOT / "tools" / "zensical.toml"
LINK = re.compile(r"(?<!!)\]\(([^)\s#]+)(#[^)\s]*)?\)")
ITEM = re.compile(r"([*-]|\d+\.) ")
LANGUAGES = {".py": "python", ".toml": "toml", ".md": "markdown", ".js": "javascript"}
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}


# ---- staging ----


def stage(build: Path) -> None:
    """Write the configuration and all Markdown of the site below `build`."""
    staged = build / "docs"
    shutil.rmtree(staged, ignore_errors=True)
    build.mkdir(exist_ok=True)
    shutil.copy(CONFIG, build)
    shutil.copytree(DOCS, staged, ignore=shutil.ignore_patterns("*.ipynb"))
    for notebook in sorted((DOCS / "notebooks").glob("*.ipynb")):
        (staged / "notebooks" / f"{notebook.stem}.md").write_text(page_of_notebook(notebook), encoding="utf-8")
    for name, text in reference.pages().items():
        path = staged / "reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        (staged / name.lower()).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    for page in sorted(staged.rglob("*.md")):
        link_sources(page, staged)
        page.write_text(lists_apart(page.read_text(encoding="utf-8")), encoding="utf-8")


def link_sources(page: Path, staged: Path) -> None:
    """Let links to files outside docs/ lead to pages that show them; write these pages."""
    place = page.relative_to(staged).parent
    home = ROOT if page.name in ("changelog.md", "contributing.md") else DOCS / place

    def replaced(match: re.Match[str]) -> str:
        link, heading = re.sub(r"\.ipynb$", ".md", match[1]), match[2] or ""
        target = (home / link).resolve()
        if "://" in link or (page.parent / link).exists() or not target.exists():
            return f"]({link}{heading})"
        if target.is_relative_to(DOCS):
            shown = target.relative_to(DOCS)
        elif target.name in ("CHANGELOG.md", "CONTRIBUTING.md"):
            shown = Path(target.name.lower())
        elif target == ROOT / "README.md":
            shown = Path("index.md")
        else:
            shown = show_source(target, staged)
        return f"]({'../' * len(place.parts)}{shown.as_posix()}{heading})"

    page.write_text(LINK.sub(replaced, page.read_text(encoding="utf-8")), encoding="utf-8")


def show_source(target: Path, staged: Path) -> Path:
    """The page, relative to `staged`, that shows a file or the files of a folder; written if it is not there."""
    name = target.relative_to(ROOT)
    path = Path("source") / f"{name.as_posix()}.md"
    if (staged / path).exists():
        return path
    (staged / path).parent.mkdir(parents=True, exist_ok=True)
    head = f"---\ntitle: {name.name}\nsearch:\n  exclude: true\n---\n\n# {name.as_posix()}\n\n"
    if target.is_dir():
        files = sorted(target.glob("*.py"))
        listed = "".join(f"* [{each.name}]({name.name}/{each.name}.md)\n" for each in files)
        (staged / path).write_text(head + listed, encoding="utf-8")
        for each in files:
            show_source(each, staged)
    else:
        code = target.read_text(encoding="utf-8").rstrip()
        (staged / path).write_text(f"{head}````{LANGUAGES.get(target.suffix, '')}\n{code}\n````\n", encoding="utf-8")
    return path


def lists_apart(text: str) -> str:
    """An empty line before each list that follows a paragraph: this kind of Markdown needs it."""
    lines, code = [""], False
    for line in text.splitlines():
        code ^= line.lstrip().startswith("```")
        before = lines[-1]
        if not code and ITEM.match(line) and before and before[0] not in " |" and not ITEM.match(before):
            lines.append("")
        lines.append(line)
    return "\n".join(lines[1:]) + "\n"


def page_of_notebook(path: Path) -> str:
    """A notebook as Markdown: its texts, and its cells of code as blocks."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [
        text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for cell in cells
        for text in ["".join(cell["source"]).strip()]
    ]
    return "\n\n".join(parts) + f"\n\nThis page is the notebook `docs/notebooks/{path.name}`.\n"


# ---- checking ----


class _Loads(HTMLParser):
    """The addresses that a browser loads by itself when it shows a page; links to click on are not among them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        address = given.get("href", "") if tag == "link" else given.get(LOADED.get(tag, ""), "")
        if given.get("rel") not in ("canonical", "alternate", "next", "prev"):
            self.found += [address] if address else []


def external(site: Path) -> list[str]:
    """`page: address` for everything that pages and style sheets load from elsewhere."""
    found: list[str] = []
    for path in sorted(site.rglob("*.html")):
        parser = _Loads()
        parser.feed(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: {each}" for each in parser.found if re.match(r"(https?:)?//", each)]
    for path in sorted(site.rglob("*.css")):
        loads = re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]+)", path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: {each}" for each in loads]
    return found


def dead_links(site: Path) -> list[str]:
    """`page: link` for every link of a page to a file or a heading of the site that is not there."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if path.name != "404.html"}
    names = {path: set(re.findall(r'\s(?:id|name)="([^"]+)"', text)) for path, text in pages.items()}
    found: list[str] = []
    for path, text in sorted(pages.items()):
        for link in re.findall(r'<a [^>]*href="([^"]*)"', text):
            address, _, heading = link.partition("#")
            target = (path.parent / address).resolve() if address else path
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists() or (heading and target in names and heading not in names[target]):
                found.append(f"{path.relative_to(site)}: {link}")
    return found


def make(build: Path) -> list[str]:
    """Stage and build the site in `build`/site; the problems that were found."""
    stage(build)
    site = build / "site"
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(build / CONFIG.name)]
    code = subprocess.run(command, check=False).returncode  # noqa: S603 (no words of others)
    problems = [f"loads from elsewhere: {each}" for each in external(site)]
    problems += [f"dead link: {each}" for each in dead_links(site)]
    return problems + ([f"zensical ended with {code}"] if code else [])


def main() -> int:
    problems = make(BUILD)
    print(
        "\n".join(
            [
                *problems,
                f"{len(problems)} problems; {BUILD / 'site' / 'index.html'} (its search needs `make docs-serve`)",
            ]
        )
    )
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
