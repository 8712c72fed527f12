"""The scripts of this folder import each other as they do when they are run: by the name of the file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
