"""Arrays in, arrays out: the parts that must be fast, compiled where that pays."""
