"""Layer 8: figures and pages; the only place that imports matplotlib and jinja2."""
