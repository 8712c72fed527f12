"""The evaluation: plan, one pass over the data, rows, resampling, tests, records."""
