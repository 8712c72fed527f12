"""A page for each independence test: what it compares with chance, how often it errs, and what it sees."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from _site._text import card_fields, fields, page, plain, raw, table, title, toctree, write
from dreval.registry import TESTS
