"""Speed, memory and scaling, always as ratios against a named opponent in the same run."""
