"""Lower bounds of a minimum cover: exact, by linear programming, by subgradients."""
