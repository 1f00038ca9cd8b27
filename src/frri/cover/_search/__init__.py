"""The search for a minimum cover: greedy, local, and with a proof."""
