"""Layer 4: resampling and intervals; knows callables only, no statistic by name."""
