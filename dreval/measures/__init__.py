"""Layer 4: measures, each a function with a card; it is ``dreval.<name>``."""
