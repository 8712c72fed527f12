"""The kinds of figures: one file is one kind, with a card and the function that draws it."""
