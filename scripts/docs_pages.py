"""A hook of mkdocs: the READMEs and the changelog, which lie beside `docs`, as pages of the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "README.ru.md": "index.ru.md", "CHANGELOG.md": "changelog.md"}
"""Files by what the site calls them."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, with links that fit their new place."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for name, place in PAGES.items():
            text = text.replace(f"]({name}", f"]({place}")
        files.append(File.generated(config, page, content=text))
    return files
