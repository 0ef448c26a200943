"""Benchmarks, metrics, runs, reports and the command line."""
