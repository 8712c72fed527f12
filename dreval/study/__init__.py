"""Study: methods x data sets x settings, resumable."""
