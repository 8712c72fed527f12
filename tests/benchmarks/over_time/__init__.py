"""Benchmarks that airspeed velocity follows over the commits."""
