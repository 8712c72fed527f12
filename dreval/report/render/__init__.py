"""Renderers: text, HTML, Markdown and LaTeX."""
