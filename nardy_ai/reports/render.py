"""Templates to pages: all that is not markup of ours is escaped; a page may load nothing, and run only our script."""

import base64
import hashlib

from jinja2 import Environment, PackageLoader, StrictUndefined

from nardy_ai.language import current_language, tr, tr_count
from nardy_ai.pictures import BOARD_STYLE

__all__ = ["render"]


def render(template: str, **context: object) -> str:
    """The page of a template by its file name, such as `positions.html.j2`; the same input gives the same text.

    What UTF-8 cannot hold, such as the name of a file in another encoding, is shown with question marks.
    """
    environment = Environment(
        loader=PackageLoader("nardy_ai.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"tr": tr, "tr_count": tr_count}
    script = _source(environment, "report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shared = {
        "language": current_language(),
        "script": script,
        "script_source": f"sha256-{digest}",
        "style": _source(environment, "report.css") + BOARD_STYLE,
    }
    page = environment.get_template(template).render(shared | context)
    return page.encode(errors="replace").decode()


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
