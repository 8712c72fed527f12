"""Names in code that link to their page: ``dreval.trustworthiness``, ``trustworthiness``, ``Results.plot()``."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_NAME = re.compile(r"^(?:dreval\.)?([A-Za-z_][\w.]*)(\(.*\))?$")


class CodeLinks(SphinxPostTransform):
    """Make a link of every piece of inline code that is a documented name, save on the page that documents it."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """Go through all inline code that is not in a link or a heading yet."""
        objects = self.env.domains.python_domain.objects
        for node in list(self.document.findall(nodes.literal)):
            name = _NAME.match(node.astext())
            target = _found(objects, name[1]) if name else None
            if target is None or target.docname == self.env.docname or _linked(node):
                continue
            link = make_refnode(self.app.builder, self.env.docname, target.docname, target.node_id, node.deepcopy())
            node.replace_self(link)


def _found(objects: Any, name: str) -> Any:
    """The documented thing of that name, or the method class."""
    return objects.get(f"dreval.{name}") or objects.get(f"dreval.methods.{name}")


def _linked(node: nodes.Node) -> bool:
    """Whether the node stands in a link, a heading or a signature."""
    above = node.parent
    while above is not None:
        if isinstance(above, (nodes.reference, nodes.title)) or above.tagname.startswith("desc_sig"):
            return True
        above = above.parent
    return False
