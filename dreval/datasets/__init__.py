"""Layer 4: data sets, bundled, simulated or read from files, each a function with a card."""
