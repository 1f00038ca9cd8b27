"""The paper's experiment: its data sets, and fair comparisons of learners on identical folds."""
