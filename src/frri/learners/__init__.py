"""One scikit-learn estimator per file; each ends in the same rule model."""
