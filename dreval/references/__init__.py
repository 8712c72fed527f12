"""The works cited by cards, intervals and tests, each stored once, with reference lists and BibTeX."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from dreval._check import check_one_of

__all__ = ["INFERENCE", "Citation", "Reference", "reference", "works"]

_JACKKNIFE = ("efron1982", "jaeckel1972")
_GROUPS = ("efron1981", "efron1982")
INFERENCE: dict[str, tuple[str, ...]] = {  # works behind intervals, tests and adjustments, by their name in the tables
    "points": _JACKKNIFE,
    "jackknife": _JACKKNIFE,
    "cross": _GROUPS,
    "skewed": _GROUPS,
    "partitions": _GROUPS,
    "classes": _GROUPS,
    "groups": ("mackinnon2023",),
    "group_jackknife": ("mackinnon2023",),
    "anchors": ("cochran1977",),
    "anchor_groups": ("cochran1977",),
    "bets": ("waudby2024",),
    "subsampling": ("politis1999",),
    "subsamples": ("politis1999",),
    "seeds": ("welch1947",),
    "dip": ("hartigan1985",),
    "permutation": ("phipson2010",),
    "best set": ("hsu1981",),
    "holm": ("holm1979",),
    "benjamini_hochberg": ("benjamini1995",),
    "margin": ("schuirmann1987",),
    "friedman": ("friedman1937", "demsar2006"),
    "friedman_exact": ("friedman1937",),
    "iman_davenport": ("iman1980", "demsar2006"),
    "skillings_mack": ("skillings1981",),
    "nemenyi": ("nemenyi1963", "demsar2006"),
    "wilcoxon": ("wilcoxon1945", "hodges1963"),
    "mixed": ("laird1982",),
    "bayes": ("benavoli2017",),
}

_KEY = re.compile(r"@([a-z]+\d{4}[a-z]*)")
_MAX_LISTED_AUTHORS = 6  # a list of references names all authors up to this number, else the first "et al."
_MARKS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0328": "k",
}  # fmt: skip
_LETTERS = {
    "ł": r"{\l}", "Ł": r"{\L}", "ø": r"{\o}", "Ø": r"{\O}", "ß": r"{\ss}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}",
    "ı": r"{\i}", "đ": r"{\dj}", "“": "``", "”": "''", "’": "'", "–": "--", "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """One work; the fields have the names and the meaning of BibTeX fields.

    Each of ``authors`` is written as "Family, I.", with a part such as "van der" before the family name; a group has no
    comma.
    """

    key: str
    kind: str
    authors: tuple[str, ...]
    year: int
    title: str
    journal: str = ""
    booktitle: str = ""
    edition: str = ""
    publisher: str = ""
    school: str = ""
    institution: str = ""
    howpublished: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    doi: str = ""
    note: str = ""

    @property
    def names(self) -> str:
        """The authors in a sentence: one or two family names, or the first and "et al.".

        Examples
        --------
        >>> from dreval.references import reference
        >>> reference("goldberg2009").names, reference("bishop1998").names
        ('Goldberg and Ritov', 'Bishop et al.')
        """
        families = [author.partition(",")[0] for author in self.authors]
        return " and ".join(families) if len(families) < 3 else f"{families[0]} et al."

    def __str__(self) -> str:
        """Return the entry of a list of references, without a final period."""
        authors = self.authors if len(self.authors) <= _MAX_LISTED_AUTHORS else (self.authors[0], "et al.")
        edition = f"{self.edition} edition, " if self.edition else ""
        theses = {"phdthesis": "PhD thesis, ", "mastersthesis": "Master's thesis, ", "techreport": "Technical report, "}
        place = theses.get(self.kind, "") + edition
        place += self.journal or self.booktitle or self.publisher or self.school or self.institution
        place += self.howpublished if not place or place == edition else ""
        place += f" {self.volume}" if self.volume else ""
        place += f" {self.number}" if self.number and not self.volume else ""
        place += f"({self.number})" if self.number and self.volume else ""
        tail = ", ".join(filter(None, [place, self.pages]))
        return f"{', '.join(authors)} ({self.year}). {self.title}. {tail}"

    def bibtex(self) -> str:
        r"""Return the BibTeX entry; letters beyond ASCII are written as commands, and braces protect capitals.

        Examples
        --------
        >>> from dreval.references import reference
        >>> print(reference("demsar2006").bibtex())
        @article{demsar2006,
          author = {Dem{\v{s}}ar, J.},
          title = {Statistical comparisons of classifiers over multiple data sets},
          journal = {Journal of Machine Learning Research},
          volume = {7},
          pages = {1--30},
          year = {2006}
        }
        """
        names = ("journal", "booktitle", "edition", "publisher", "school", "institution", "howpublished", "volume")
        authors = [_escaped(author) if "," in author else f"{{{_escaped(author)}}}" for author in self.authors]
        fields = {"author": " and ".join(authors), "title": _title(self.title)}
        fields |= {name: _escaped(getattr(self, name)) for name in (*names, "number", "note")}
        fields |= {"pages": self.pages.replace("-", "--"), "year": str(self.year), "doi": self.doi}
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        return f"@{self.kind}{{{self.key},\n{lines}\n}}"


def _escaped(text: str) -> str:
    """Escape text for BibTeX, in ASCII where its letters have commands."""
    parts = []
    for letter in unicodedata.normalize("NFC", text):
        base, *marks = unicodedata.normalize("NFD", letter)
        if len(marks) == 1 and marks[0] in _MARKS:
            command = _MARKS[marks[0]]
            parts.append(f"{{\\{command}{{{base}}}}}" if command.isalpha() else f"{{\\{command}{base}}}")
        else:
            parts.append(_LETTERS.get(letter, letter))
    return "".join(parts)


def _title(text: str) -> str:
    """Return a title with braces around words that have capitals: bibliography styles would make these lower case."""
    words = [(word, word[1:] if place == 0 else word) for place, word in enumerate(text.split())]
    return " ".join(
        f"{{{_escaped(word)}}}" if checked != checked.lower() else _escaped(word) for word, checked in words
    )


@cache
def works() -> Mapping[str, Reference]:
    """Return all works by key.

    Examples
    --------
    >>> from dreval.references import works
    >>> works()["venna2001"].year
    2001
    """
    tables = tomllib.loads(files("dreval.references").joinpath("works.toml").read_text(encoding="utf-8"))
    references = {
        key: Reference(key, **{**fields, "authors": tuple(fields["authors"])}) for key, fields in tables.items()
    }
    return MappingProxyType(references)


def reference(key: str) -> Reference:
    """Return one work by its key; the error for an unknown key suggests the nearest key.

    Examples
    --------
    >>> from dreval.references import reference
    >>> print(reference("goldberg2009"))
    Goldberg, Y., Ritov, Y. (2009). Local Procrustes for manifold embedding: ... Machine Learning 77, 1-25
    """
    return works()[check_one_of(key, works(), "key")]


class Citation(str):
    """Text that cites works: every ``@key`` is written out, and ``works`` has the keys.

    Examples
    --------
    >>> from dreval.references import Citation
    >>> citation = Citation("@sammon1969, Eq. 1.")
    >>> citation.works, citation[-7:]
    (('sammon1969',), ' Eq. 1.')
    """

    works: tuple[str, ...]

    def __new__(cls, text: str) -> Citation:
        """Write out the keys; a citation is returned unchanged."""
        if isinstance(text, Citation):
            return text
        citation = super().__new__(cls, _KEY.sub(lambda match: str(reference(match[1])), text))
        citation.works = tuple(dict.fromkeys(_KEY.findall(text)))
        return citation


def bibliography(references: Iterable[Reference]) -> str:
    """Return the BibTeX entries of works, each once, sorted by key."""
    return "\n\n".join(work.bibtex() for _, work in sorted({work.key: work for work in references}.items())) + "\n"
