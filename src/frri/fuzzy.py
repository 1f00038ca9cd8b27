"""Fuzzy rough sets in plain numpy: the definitions of section 2 of the paper, one function each.

The module contains connectives (t-norms, implicators), relations between objects, the lower and
upper approximation of a set, the positive region, and the min-max scaling of attributes to [0, 1].
It uses the words of the paper: an *object* is a sample, an *attribute* is a feature.

The functions are written to be read and checked, and serve as the reference for faster code: a
relation between n and k objects is a dense n x k matrix. Degrees are numbers in [0, 1], which is
not checked. All functions broadcast.

The connectives satisfy their laws in spite of rounding wherever that is possible: 1 is an exact
neutral element of every t-norm, every t-norm is exactly commutative and nowhere above the minimum,
and every implicator is exactly 1 wherever it should be.

Examples
--------
>>> {name: t_norm(0.7, [0.2, 0.6, 1.0]).round(3).tolist() for name, t_norm in T_NORMS.items()}
{'minimum': [0.2, 0.6, 0.7], 'product': [0.14, 0.42, 0.7], 'lukasiewicz': [0.0, 0.3, 0.7],
 'hamacher': [0.184, 0.477, 0.7], 'drastic': [0.0, 0.0, 0.7], 'nilpotent_minimum': [0.0, 0.6, 0.7]}
>>> {name: implies([0.2, 0.8], 0.6).round(3).tolist() for name, implies in IMPLICATORS.items()}
{'lukasiewicz': [1.0, 0.8], 'kleene_dienes': [0.8, 0.6], 'reichenbach': [0.92, 0.68],
 'goedel': [1.0, 0.6], 'goguen': [1.0, 0.75]}
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Degrees = NDArray[np.float64]
TNorm = Callable[[ArrayLike, ArrayLike], Degrees]
Implicator = Callable[[ArrayLike, ArrayLike], Degrees]
AttributeRelation = Callable[[ArrayLike, ArrayLike], Degrees]


# --- T-norms: conjunction
def minimum(a: ArrayLike, b: ArrayLike) -> Degrees:
    """Return the greatest t-norm, min(a, b)."""
    return np.minimum(a, b, dtype=np.float64)


def product(a: ArrayLike, b: ArrayLike) -> Degrees:
    """Return the product t-norm, a b."""
    return np.multiply(a, b, dtype=np.float64)


def lukasiewicz(a: ArrayLike, b: ArrayLike) -> Degrees:
    """Return the Łukasiewicz t-norm, max(0, a + b - 1).

    It is computed as the smaller degree less the complement of the larger one: that complement is
    exact wherever the result is positive, so the result is rounded only once.
    """
    smaller, larger = _ordered(a, b)
    found = np.asarray(larger)  # no further array is needed
    np.subtract(1, found, out=found)
    np.subtract(smaller, found, out=found)
    return np.maximum(found, 0, out=found)[()]


def hamacher(a: ArrayLike, b: ArrayLike) -> Degrees:
    """Return the Hamacher product, a b / (a + b - a b), and 0 where a = b = 0.

    It is computed as `smaller * (larger / (larger + smaller * (1 - larger)))`, which does not
    underflow.
    """
    smaller, larger = _ordered(a, b)
    denominator = larger + smaller * (1 - larger)
    return smaller * np.divide(larger, denominator, out=np.zeros_like(larger), where=larger > 0)


def drastic(a: ArrayLike, b: ArrayLike) -> Degrees:
    """Return the least t-norm: 0 unless one of the degrees is 1."""
    smaller, larger = _ordered(a, b)
    return np.where(larger == 1, smaller, 0.0)


def nilpotent_minimum(a: ArrayLike, b: ArrayLike) -> Degrees:
    """Return the minimum where a + b > 1, and 0 elsewhere."""
    smaller, larger = _ordered(a, b)
    return np.where(smaller > 1 - larger, smaller, 0.0)


# Every t-norm of this module by name.
T_NORMS: Mapping[str, TNorm] = MappingProxyType(
    {f.__name__: f for f in (minimum, product, lukasiewicz, hamacher, drastic, nilpotent_minimum)}
)


# --- Implicators: implication
def lukasiewicz_implicator(x: ArrayLike, y: ArrayLike) -> Degrees:
    """Return the Łukasiewicz implicator, min(1, 1 - x + y): the residuum of `lukasiewicz`."""
    return 1 - np.maximum(np.subtract(x, y, dtype=np.float64), 0)


def kleene_dienes(x: ArrayLike, y: ArrayLike) -> Degrees:
    """Return the Kleene-Dienes implicator, max(1 - x, y)."""
    return np.maximum(1 - _degrees(x), y)


def reichenbach(x: ArrayLike, y: ArrayLike) -> Degrees:
    """Return the Reichenbach implicator, 1 - x + x y."""
    return 1 - _degrees(x) * (1 - _degrees(y))


def goedel(x: ArrayLike, y: ArrayLike) -> Degrees:
    """Return the Goedel implicator, 1 where x <= y and y elsewhere: the residuum of `minimum`."""
    x, y = np.broadcast_arrays(_degrees(x), _degrees(y))
    return np.where(x <= y, 1.0, y)


def goguen(x: ArrayLike, y: ArrayLike) -> Degrees:
    """Return the Goguen implicator, 1 where x <= y and y / x elsewhere (residuum of `product`)."""
    x, y = np.broadcast_arrays(_degrees(x), _degrees(y))
    return np.asarray(np.divide(y, x, out=np.ones(x.shape), where=x > y))


# Every implicator of this module by name.
IMPLICATORS: Mapping[str, Implicator] = MappingProxyType(
    {
        "lukasiewicz": lukasiewicz_implicator,
        "kleene_dienes": kleene_dienes,
        "reichenbach": reichenbach,
        "goedel": goedel,
        "goguen": goguen,
    }
)


# --- Relations
def indiscernibility(u: ArrayLike, v: ArrayLike) -> Degrees:
    """Return the similarity of two scaled values, 1 - |u - v|."""
    return 1 - np.abs(np.subtract(u, v, dtype=np.float64))


def dominance(u: ArrayLike, v: ArrayLike) -> Degrees:
    """Return the degree to which u is above v or similar to it, min(1 - (v - u), 1)."""
    return np.asarray(np.minimum(1 - np.subtract(v, u, dtype=np.float64), 1))


def relation(
    values: ArrayLike,
    other: ArrayLike | None = None,
    attributes: Iterable[int] | None = None,
    t_norm: TNorm = minimum,
    compare: AttributeRelation | Sequence[AttributeRelation] = indiscernibility,
) -> Degrees:
    """Return the fuzzy relation R_B(u, v) over a set B of attributes, as a matrix.

    The t-norm joins the relations on the single attributes of B. Without any attribute all objects
    are related to degree 1.

    Parameters
    ----------
    values : array of shape (n, m)
        Scaled values of the objects u, one per row.
    other : array of shape (k, m), optional
        Scaled values of the objects v; by default the same objects.
    attributes : iterable of int, optional
        The columns that make up B; by default all of them.
    t_norm : function
        T-norm that joins the degrees on the attributes.
    compare : function, or one function per column of `values`
        Relation on one attribute, such as `indiscernibility` or `dominance`.

    Returns
    -------
    array of shape (n, k)
        Takes n x k numbers of memory for any number of attributes.

    Examples
    --------
    >>> values = [[0.0, 0.2], [0.5, 0.4], [1.0, 1.0]]
    >>> relation(values)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.4],
           [0. , 0.4, 1. ]])
    >>> relation(values, attributes=[1], compare=dominance)
    array([[1. , 0.8, 0.2],
           [1. , 1. , 0.4],
           [1. , 1. , 1. ]])
    """
    u = _matrix(values)
    v = u if other is None else _matrix(other, "other")
    count = u.shape[1]
    if v.shape[1] != count:
        raise ValueError(
            f"the objects to compare have {count} and {v.shape[1]} attributes: "
            "pass tables with the same columns"
        )
    relations = [compare] * count if callable(compare) else list(compare)
    if len(relations) != count:
        raise ValueError(
            f"compare holds {len(relations)} relations for {count} attributes: "
            "pass one relation for all attributes or one for each"
        )
    chosen = range(count) if attributes is None else list(attributes)
    for a in chosen:
        if isinstance(a, bool | np.bool_) or not 0 <= a < count:
            raise IndexError(
                f"there is no attribute {a}: the table has {count} columns, numbered from 0"
            )
    degrees = (relations[a](u[:, a, None], v[None, :, a]) for a in chosen)
    return reduce(t_norm, degrees, np.ones((len(u), len(v))))


# --- Approximations
def lower_approximation(
    relation: ArrayLike, membership: ArrayLike, implicator: Implicator = lukasiewicz_implicator
) -> Degrees:
    """Return how certainly each object belongs to a fuzzy set A: min over v of I(R(u, v), A(v)).

    Parameters
    ----------
    relation : array of shape (n, k)
        Row u holds the relation of u to every object v.
    membership : array of shape (k,)
        The degrees A(v).
    implicator : function
        All implicators with I(x, 0) = 1 - x agree when A is crisp.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> similar = relation([[0.0], [0.5], [1.0]])
    >>> lower_approximation(similar, [1, 1, 0])
    array([1. , 0.5, 0. ])
    """
    degrees, members = _check_relation(relation, membership, "membership degrees")
    return np.asarray(np.min(implicator(degrees, members), axis=1, initial=1.0))


def upper_approximation(
    relation: ArrayLike, membership: ArrayLike, t_norm: TNorm = minimum
) -> Degrees:
    """Return how possibly each object belongs to a fuzzy set A: max over v of T(R(u, v), A(v)).

    The arguments are those of `lower_approximation`, with a t-norm.

    Examples
    --------
    >>> upper_approximation(relation([[0.0], [0.5], [1.0]]), [1, 1, 0])
    array([1. , 1. , 0.5])
    """
    degrees, members = _check_relation(relation, membership, "membership degrees")
    return np.asarray(np.max(t_norm(degrees, members), axis=1, initial=0.0))


def positive_region(
    relation: ArrayLike, classes: ArrayLike, implicator: Implicator = lukasiewicz_implicator
) -> Degrees:
    """Return the certainty of each object's class: the union of all lower approximations.

    The arguments are those of `lower_approximation`, with the decision class of each object v.

    Examples
    --------
    >>> positive_region(relation([[0.0], [0.5], [1.0]]), ["good", "good", "bad"])
    array([1. , 0.5, 0.5])
    """
    degrees, labels = _check_relation(relation, classes, "classes")
    lower = (lower_approximation(degrees, labels == c, implicator) for c in np.unique(labels))
    return reduce(np.maximum, lower, np.zeros(len(degrees)))


# --- Scaling
@dataclass(frozen=True, eq=False)
class Scaling:
    """Min-max normalization, learned from one table and applied to any.

    A value x of an attribute with the range [low, high] is clipped to that range and becomes::

        (x - low) / (high - low)              in general,
        (x/2 - low/2) / (high/2 - low/2)      where high - low exceeds the largest number,
        0                                     where high = low (the attribute is constant),

    in double precision and in this order of operations, so that any other program can reproduce
    the result to the last bit. The minimum becomes exactly 0, the maximum exactly 1, and the order
    is preserved.
    A missing value (nan) of an attribute that is not constant stays missing.

    Attributes
    ----------
    low, high : array of shape (m,)
        The range of each attribute, in the units of the table.

    Examples
    --------
    >>> scaling = Scaling.fit([[10.0, 7.0], [20.0, 7.0], [30.0, 7.0]])
    >>> scaling.low, scaling.high
    (array([10.,  7.]), array([30.,  7.]))
    >>> scaling.transform([[15.0, 7.0], [99.0, 8.0]])
    array([[0.25, 0.  ],
           [1.  , 0.  ]])
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def fit(cls, values: ArrayLike) -> Self:
        """Learn the range of every attribute from the rows of a table of finite numbers."""
        table = _matrix(values)
        if not len(table):
            raise ValueError("no objects to learn a range from: pass at least one row")
        if not np.isfinite(table).all():
            row, column = np.argwhere(~np.isfinite(table))[0]
            raise ValueError(
                f"attribute {column} is {table[row, column]} in row {row}: "
                "a range needs finite numbers, so fill in or drop such values first"
            )
        return cls(low=table.min(axis=0), high=table.max(axis=0))

    def transform(self, values: ArrayLike) -> Degrees:
        """Scale a table with the same attributes to [0, 1]."""
        table = _matrix(values)
        if table.shape[1] != len(self.low):
            raise ValueError(
                f"the table has {table.shape[1]} attributes but the scaling was learnt on "
                f"{len(self.low)}: pass the same columns"
            )
        with np.errstate(over="ignore"):
            unit = np.where(np.isinf(self.high - self.low), 0.5, 1.0)
        low, high = unit * self.low, unit * self.high
        clipped = unit * np.clip(table, self.low, self.high)
        return np.divide(clipped - low, high - low, out=np.zeros(table.shape), where=high > low)


# --- Helpers
def _degrees(values: ArrayLike) -> Degrees:
    return np.asarray(values, dtype=np.float64)


def _ordered(a: ArrayLike, b: ArrayLike) -> tuple[Degrees, Degrees]:
    return np.minimum(a, b, dtype=np.float64), np.maximum(a, b, dtype=np.float64)


def _matrix(
    values: ArrayLike,
    name: str = "values",
    form: str = "a table with a row per object and a column per attribute",
) -> NDArray[np.float64]:
    matrix = _degrees(values)
    if matrix.ndim != 2:
        raise ValueError(f"{name} has the shape {matrix.shape}: pass {form}")
    return matrix


def _check_relation(
    relation: ArrayLike, values: ArrayLike, name: str
) -> tuple[Degrees, NDArray[np.generic]]:
    """Return a relation as a matrix, and the values of the objects in its columns as an array."""
    form = "a matrix with a row for each object u and a column for each object v"
    degrees, array = _matrix(relation, "relation", form), np.asarray(values)
    if array.shape != degrees.shape[1:]:
        raise ValueError(
            f"the {name} have the shape {array.shape} but the relation has {degrees.shape[1]} "
            "columns: pass one for each column"
        )
    return degrees, array
