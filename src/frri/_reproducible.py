"""Arithmetic whose results have the same bits on every machine.

The last bits of numpy's `exp`, `log`, `power`, `@`, `dot`, `einsum` and `linalg` depend on the
vector unit of the processor and on the BLAS library. Computations that decide something (a gain, a
weight, a threshold) use the functions of this module instead. They consist of additions,
multiplications, divisions and square roots of IEEE 754 in a fixed order, each of which has one
correctly rounded result.
"""

from typing import Any, NamedTuple

import numpy as np

from frri._util import Floats

# Numbers that a fit stores are multiples of 2**-GRID_BITS.
GRID_BITS = 40

# Constants of `exp` and `log` in fdlibm: ln 2 in two parts, and minimax polynomials.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_INVERSE_LN2 = 1.44269504088896338700e00
_EXP = (
    4.13813679705723846039e-08,
    -1.65339022054652515390e-06,
    6.61375632143793436117e-05,
    -2.77777777770155933842e-03,
    1.66666666666666019037e-01,
)
_LOG = (
    1.479819860511658591e-01,
    1.531383769920937332e-01,
    1.818357216161805012e-01,
    2.222219843214978396e-01,
    2.857142874366239149e-01,
    3.999999999940941908e-01,
    6.666666666666735130e-01,
)
# Exponents between which `exp` neither overflows nor is subnormal.
_SMALLEST, _LARGEST = -708.0, 709.0
_MANTISSA_BITS = 53
# Summands of a product that is exact, and the bits of a slice: twice as many fit into 53 with the
# sum.
_SUMMANDS = 1 << 11
_SLICE_BITS = 20
# Multiplications of a call of BLAS: more would start threads, which wait for each other longer than
# they work.
_MULTIPLICATIONS = 1 << 18
# Summands that are added from left to right: more would lose accuracy.
_SHORT = 256
# Equations that are eliminated together: larger systems leave most of the work to matrix products.
_BLOCK = 48


def snap(values: Any) -> Any:
    """Round numbers to multiples of 2**-40.

    Equal numbers that differ by rounding errors become the same number, and sums of a few thousand
    of them are exact, so that ties between classes are ties whatever the order of the summands.

    Examples
    --------
    >>> snap(np.array([0.1 + 0.2, -1e-17])).tolist() == snap(np.array([0.3, 0.0])).tolist()
    True
    """
    unit = 0.5**GRID_BITS
    return np.rint(np.asarray(values) / unit) * unit + 0.0


def exp(x: Any) -> Floats:
    """Return e to the power of each number; 0 where that is below the normal numbers.

    Examples
    --------
    >>> exp(np.array([0.0, 1.0, -1000.0])).round(12).tolist()
    [1.0, 2.718281828459, 0.0]
    """
    x = np.asarray(x, dtype=np.float64)
    bounded = np.clip(x, _SMALLEST, _LARGEST)
    k = np.rint(bounded * _INVERSE_LN2)
    high, low = bounded - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    t = r * r
    c = r - t * _polynomial(_EXP, t)
    y = 1.0 - ((low - r * c / (2.0 - c)) - high)
    powers = ((k.astype(np.int64) + 1023) << 52).view(np.float64)
    return np.asarray(np.where(x < _SMALLEST, 0.0, y * powers))


def log(x: Any) -> Floats:
    """Return the natural logarithm of each positive number; -inf for 0.

    Examples
    --------
    >>> log(np.array([1.0, 10.0, 0.0])).tolist()
    [0.0, 2.302585092994046, -inf]
    """
    x = np.asarray(x, dtype=np.float64)
    e, f, half, r = _log_parts(x)
    r = r + e * _LN2_LOW
    return np.asarray(np.where(x > 0.0, e * _LN2_HIGH - ((half - r) - f), -np.inf))


def log2(x: Any) -> Floats:
    """Return the binary logarithm of each positive number; -inf for 0.

    Examples
    --------
    >>> log2(np.array([1.0, 8.0, 10.0, 0.0])).tolist()
    [0.0, 3.0, 3.321928094887362, -inf]
    """
    x = np.asarray(x, dtype=np.float64)
    e, f, half, r = _log_parts(x)
    return np.asarray(np.where(x > 0.0, e - ((half - r) - f) * _INVERSE_LN2, -np.inf))


def _log_parts(x: Floats) -> tuple[Any, Any, Any, Any]:
    """Return e and f of x = 2**e * (1 + f), and h and r of ln(1 + f) = f - (h - r)."""
    m, k = np.frexp(x)
    small = m < np.sqrt(0.5)
    f = np.where(small, m + m, m) - 1.0
    s = f / (2.0 + f)
    z = s * s
    half = 0.5 * f * f
    return k - small, f, half, s * (half + z * _polynomial(_LOG, z))


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    """Evaluate a polynomial by Horner's scheme, the coefficient of the highest power first."""
    found = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        found += coefficient
        found *= x
    found += coefficients[-1]
    return found


def total(values: Floats) -> Any:
    """Return the sum along the last axis: halves are added up, then from left to right."""
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1])[()]
    while (n := values.shape[-1]) > _SHORT:
        half = (n + 1) // 2
        folded = values[..., :half].copy()
        folded[..., : n - half] += values[..., half:]
        values = folded
    return np.add.accumulate(values, axis=-1)[..., -1]


class Slices(NamedTuple):
    """A matrix of numbers from -1 to 1 as the sum of leading bits and the next ones."""

    first: Floats
    rest: Floats

    @classmethod
    def of(cls, x: Floats, largest: Any = 1.0) -> "Slices":
        """Split numbers; `largest` is not smaller than any number, and may differ along an axis."""
        # Adding and subtracting this number rounds to _SLICE_BITS bits.
        shift = np.ldexp(1.5, np.frexp(largest)[1] + (_MANTISSA_BITS - 1 - _SLICE_BITS))
        first = x + shift
        first -= shift
        rest = x - first
        shift *= 0.5**_SLICE_BITS
        rest += shift
        rest -= shift
        return cls(first, rest)


def product(a: Floats, b: Floats | Slices) -> Floats:
    """Multiply two matrices, with a relative error of about 2**-40.

    Each matrix is split into two slices of so few bits that the products of slices are exact in
    floating point, whatever the order of the summands (Ozaki et al., Error-free transformations of
    matrix multiplication by using fast routines of matrix multiplication, 2012). BLAS can do the
    work.

    Parameters
    ----------
    a : ndarray of shape (n, k)
    b : ndarray of shape (k, m), or its slices

    Examples
    --------
    >>> product(np.array([[0.5, 0.25]]), np.array([[3.0], [2.0]]))
    array([[2.]])
    """
    if not isinstance(b, Slices):
        b = Slices.of(b, _largest(b, axis=0))
    found = np.zeros((len(a), b.first.shape[1]))
    step = min(_SUMMANDS, max(1, _MULTIPLICATIONS // max(1, found.size)))
    for start in range(0, a.shape[1], step):
        part = a[:, start : start + step]
        first, rest = Slices.of(part, _largest(part, axis=1))
        other, smaller = (half[start : start + step] for half in b)
        found += first @ other + (first @ smaller + rest @ other)
    return found


def _largest(x: Floats, axis: int) -> Floats:
    """Return the largest absolute value along an axis."""
    low, high = x.min(axis=axis, keepdims=True), x.max(axis=axis, keepdims=True)
    return np.asarray(np.maximum(high, -low))


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve a symmetric positive definite system of equations by elimination without pivots.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    right : ndarray of shape (n,) or (n, m)

    Examples
    --------
    >>> solve(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([8.0, 8.0])).tolist()
    [1.0, 2.0]
    """
    columns = right[:, None] if right.ndim == 1 else right
    found = _eliminated(matrix, columns)
    if len(matrix) > _BLOCK:
        # Products of blocks have 40 bits: the rest of the equations is solved as well.
        found += _eliminated(matrix, columns - total(matrix[:, None] * found.T))
    return found.reshape(right.shape)


def _eliminated(matrix: Floats, right: Floats) -> Floats:
    """Solve by Gauss-Jordan elimination, a block of equations at a time."""
    n = len(right)
    rows = np.column_stack([matrix, right])
    for start in range(0, n, _BLOCK):
        end = min(start + _BLOCK, n)
        own = rows[start:end, start:]
        for k in range(end - start):
            own[k] /= own[k, k]
            factors = own[:, k].copy()
            factors[k] = 0.0
            own -= np.multiply.outer(factors, own[k])
        if end < n:
            rows[end:, end:] -= product(rows[end:, start:end], own[:, end - start :])
    found = rows[:, n:]
    for start in range((n - 1) // _BLOCK * _BLOCK, 0, -_BLOCK):
        end = min(start + _BLOCK, n)
        found[:start] -= total(rows[:start, None, start:end] * found[start:end].T)
    return found
