"""The kinds of figures, each a function that draws it, with a card."""
