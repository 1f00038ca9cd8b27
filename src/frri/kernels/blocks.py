"""Sets of objects in blocks of eight words, each operation on a block a single vector instruction.

The compiler turns loops of a short, known length into that many scalar instructions before it looks
for vectors. Where such a loop is all there is to do, it is given here as a vector from the start.

Arrays of blocks have the shape (number of blocks, 8).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

import numpy as np

from frri.compiling import loading_compiled

# Words in a block: a line of the cache.
BLOCK = 8

NONE = np.uint64(0)


def narrow(out, o, sets, s, table, inner, outer):
    """Put the objects of a set that are at or above the cut `inner` and not `outer` into `out[o]`.

    Returns whether there are any.
    """
    found = NONE
    for i in range(BLOCK):
        out[o, i] = sets[s, i] & table[inner, i] & ~table[outer, i]
        found |= out[o, i]
    return found != NONE


def beyond(sets, s, others, o, table, inner, outer):
    """Whether objects of both sets are at or above the cut `outer`, and whether below `inner`."""
    above, below = NONE, NONE
    for i in range(BLOCK):
        both = sets[s, i] & others[o, i]
        above |= both & table[outer, i]
        below |= both & ~table[inner, i]
    return above != NONE, below != NONE


if loading_compiled():
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic

    _INDEX, _VECTOR = ir.IntType(64), ir.VectorType(ir.IntType(64), BLOCK)

    def _pointer(context, builder, array_type, array, index):
        data = context.make_array(array_type)(context, builder, array).data
        if index.type.width < _INDEX.width:
            index = builder.sext(index, _INDEX)
        start = builder.gep(data, [builder.mul(index, ir.Constant(_INDEX, BLOCK))])
        return builder.bitcast(start, _VECTOR.as_pointer())

    def _load(context, builder, array_type, array, index):
        return builder.load(_pointer(context, builder, array_type, array, index), align=8)

    def _any(builder, words):
        flags = builder.icmp_unsigned("!=", words, ir.Constant(_VECTOR, None))
        together = builder.bitcast(flags, ir.IntType(BLOCK))
        return builder.icmp_unsigned("!=", together, ir.Constant(together.type, 0))

    @intrinsic
    def narrow(_, out, o, sets, s, table, inner, outer):  # noqa: D103
        def generate(context, builder, signature, args):
            kinds = signature.args
            words = _load(context, builder, kinds[2], args[2], args[3])
            at_or_above = _load(context, builder, kinds[4], args[4], args[5])
            above = _load(context, builder, kinds[4], args[4], args[6])
            words = builder.and_(builder.and_(words, at_or_above), builder.not_(above))
            builder.store(words, _pointer(context, builder, kinds[0], args[0], args[1]), align=8)
            return _any(builder, words)

        return types.boolean(out, o, sets, s, table, inner, outer), generate

    @intrinsic
    def beyond(_, sets, s, others, o, table, inner, outer):  # noqa: D103
        def generate(context, builder, signature, args):
            kinds = signature.args
            one = _load(context, builder, kinds[0], args[0], args[1])
            other = _load(context, builder, kinds[2], args[2], args[3])
            at_or_above = _load(context, builder, kinds[4], args[4], args[5])
            above = _load(context, builder, kinds[4], args[4], args[6])
            both = builder.and_(one, other)
            found = (
                _any(builder, builder.and_(both, above)),
                _any(builder, builder.and_(both, builder.not_(at_or_above))),
            )
            return context.make_tuple(builder, signature.return_type, found)

        result = types.UniTuple(types.boolean, 2)
        return result(sets, s, others, o, table, inner, outer), generate
