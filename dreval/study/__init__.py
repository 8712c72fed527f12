"""The study: methods x data sets x settings, resumable."""
