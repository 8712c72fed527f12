"""Resampling, intervals and p-values of statistics that are passed as callables."""
