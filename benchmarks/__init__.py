"""Benchmarks of accuracy, speed, memory and scaling.

Times are compared with those of a named baseline, measured in the same run.
"""
