"""Additive rules: soft boxes that vote, added one at a time (classification and regression)."""
