"""The reference site: ``make site`` builds it with sphinx from the texts of this folder and from the registries."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parent.parent
VIGNETTES = str(ROOT / "vignettes")
sys.path.insert(0, VIGNETTES)
# for scripts next to pages
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [VIGNETTES, os.environ.get("PYTHONPATH")]))
os.environ["DREVAL_NOTICES"] = "0"  # pages have no line on loops that are compiled
for _library in ("OMP", "OPENBLAS", "NUMBA"):  # as many pages as cores are executed at a time, each by one thread
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ["LOKY_MAX_CPU_COUNT"] = "1"

from dreval import __version__

project = "dreval"
author = "dreval developers"
project_copyright = "dreval developers, BSD-3-Clause"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb", "_site"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}
exclude_patterns = ["_*", "**/_*", "**/.*"]

if hasattr(KernelManager, "transport_encryption"):  # newer kernels warn about unencrypted connections
    KernelManager.transport_encryption.default_value = "auto"
# Every vignette is executed in a folder of its own; what fails, warns or writes to stderr ends the build. What a page
# printed is kept as long as neither its code nor any file that it could run changes.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "error"
nb_merge_streams = True
_read = [
    *ROOT.glob("dreval/**/*.py"),
    *ROOT.glob("vignettes/*.py"),
    *ROOT.glob("vignettes/*.csv"),
    *ROOT.glob("data/*"),
    ROOT / "pyproject.toml",
]
_content = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_read) if path.is_file())).hexdigest()[:16]
_executed = ROOT / "_build" / "executed"
for _old in _executed.glob("*"):
    if _old.name != _content:
        shutil.rmtree(_old)
nb_execution_cache_path = str(_executed / _content)
get_cache(nb_execution_cache_path).list_cache_records()  # makes the data base before two processes want to

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
smartquotes_action = "qe"  # quotes and ellipses; the options of commands keep their two dashes

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False
numpydoc_validation_checks = set()
add_module_names = False
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"dreval {release}"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {name: [] for name in ("index", "reference/gallery", "news", "contributing")}
html_theme_options = {
    "header_links_before_dropdown": 5,
    "logo": {"text": "dreval"},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 1,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
