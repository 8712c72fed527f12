"""Layer 4: one file is one data set, bundled or simulated, with its card."""
