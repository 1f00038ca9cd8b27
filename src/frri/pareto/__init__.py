"""The Pareto frontier of size and errors: the fewest errors that N rules of a pool can make."""
