"""What tests of HTML reports share: a page as a tree, held to be well formed and to need nothing from outside."""

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

_VOID = {"meta", "link", "br", "input"}
_LOADS = {"src", "srcset", "action", "formaction", "poster", "data", "background", "xlink:href"}


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = ET.Element("page")
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        one = ET.SubElement(self.open[-1], tag, {key: value or "" for key, value in attrs})
        if tag not in _VOID:
            self.open.append(one)

    def handle_startendtag(self, tag, attrs):
        ET.SubElement(self.open[-1], tag, {key: value or "" for key, value in attrs})

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        here = self.open[-1]
        if len(here):
            here[-1].tail = (here[-1].tail or "") + data
        else:
            here.text = (here.text or "") + data


def read_page(text: str) -> ET.Element:
    """The tree of a page; a tag that is not closed where it should be is a fault, and so is anything loaded."""
    parser = _Tree()
    parser.feed(text)
    parser.close()
    assert len(parser.open) == 1, f"<{parser.open[-1].tag}> is not closed"
    for one in parser.root.iter():
        assert not _LOADS & set(one.keys()), ET.tostring(one)
        assert one.get("href", "#").startswith(("#", "data:")), one.get("href")
    ids = [one.get("id") for one in parser.root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    return parser.root


def words(one: ET.Element) -> str:
    """The text of an element and all in it, blanks joined."""
    return " ".join("".join(one.itertext()).split())


def having(root: ET.Element, name: str) -> list[ET.Element]:
    """The elements of a class."""
    return [one for one in root.iter() if name in one.get("class", "").split()]


def table_rows(table: ET.Element) -> list[list[str]]:
    """The cells of a table's body."""
    return [[words(cell) for cell in row.iter("td")] for row in table.find("tbody")]
