"""Layer 5: independence tests (geometry + inference), each a function with a card."""
