"""Names in code that link to their page: ``dreval.trustworthiness``, ``trustworthiness``, ``Results.plot()``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_NAME = re.compile(r"^(?:dreval\.)?([A-Za-z_][\w.]*)(\(.*\))?$")
TYPES = ("class", "exception")


class CodeLinks(SphinxPostTransform):
    """Make a link of every piece of inline code that is a documented name, save on the page that documents it."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """Go through all inline code that is not in a link or a heading yet."""
        pieces = [(node, _NAME.match(node.astext())) for node in self.document.findall(nodes.literal)]
        known = documented(self.env.domains.python_domain.objects)
        for node, name in pieces:
            target = known.get(name[1]) if name else None
            if target is None or target.docname == self.env.docname or _linked(node):
                continue
            link = make_refnode(self.app.builder, self.env.docname, target.docname, target.node_id, node.deepcopy())
            node.replace_self(link)


def documented(objects: Mapping[str, Any]) -> dict[str, Any]:
    """What is documented, by the names that texts use.

    That is all that lies behind ``dreval.``, and of classes, wherever they are defined, their own name with and without
    that of a method.
    """
    known = {}
    for name, found in objects.items():
        if found.objtype in TYPES:
            known[name.rpartition(".")[2]] = found
        elif found.objtype in ("method", "property"):
            known[".".join(name.split(".")[-2:])] = found
    return known | {name.removeprefix("dreval."): found for name, found in objects.items()}


def _linked(node: nodes.Node) -> bool:
    """Whether the node stands in a link, a heading or a signature."""
    above = node.parent
    while above is not None:
        if isinstance(above, (nodes.reference, nodes.title)) or above.tagname.startswith("desc_sig"):
            return True
        above = above.parent
    return False
