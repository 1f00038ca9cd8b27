"""Sets as 64-bit words: constants, and kernels for the bits of a word."""

import numpy as np

from frri._compile import inner_kernel

# Elements of a word.
WORD = 64

NONE = np.uint64(0)
ONE = np.uint64(1)
ALL = ~np.uint64(0)

# A de Bruijn sequence: shifted by 0 to 63 places, its first six bits take every value once.
SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
POSITIONS = np.zeros(64, dtype=np.int64)
POSITIONS[[int(SEQUENCE) * 2**bit % 2**64 >> 58 for bit in range(64)]] = np.arange(64)


@inner_kernel
def lowest(bits: np.uint64) -> int:
    """Return the position of the lowest bit set, 0 where there is none."""
    single = bits & (~bits + ONE)
    return POSITIONS[(single * SEQUENCE) >> SHIFT]  # type: ignore[no-any-return]


@inner_kernel
def count_ones(word: np.uint64) -> int:
    """Return the number of bits set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    total = (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int64(total)  # type: ignore[return-value]
