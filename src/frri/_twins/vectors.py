"""Short loops that are single vector instructions.

The compiler turns loops of a short, known length into that many scalar instructions before it looks
for vectors, and never finds out that a comparison of 64 bytes is a set of 64 objects. Where such a
loop is all there is to do, it is given to the compiler as a vector from the start. Where that cannot be
done, or does not give what the loop gives, the loop itself is compiled: slower, with the same results.

Sets of objects come in blocks of eight words: arrays of shape (number of blocks, 8).
"""

# mypy: disable-error-code="assignment, no-untyped-def, no-untyped-call, type-arg"

import numpy as np

from frri._twins import is_twin, kernel

# Words in a block: a line of the cache.
BLOCK = 8

# Objects in a word.
WORD = 64

NONE = np.uint64(0)
ONE = np.uint64(1)
ALL = ~np.uint64(0)

# The position of the single bit in a word, by a multiplication (a de Bruijn sequence).
SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
POSITION = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    POSITION[(0x03F79D71B4CB0A89 << _bit & 0xFFFFFFFFFFFFFFFF) >> 58] = _bit


@kernel
def gap(one, other):
    """How far apart two bytes are."""
    return np.uint8(max(one, other) - min(one, other))


def lowest(bits):
    """Position of the lowest bit set; 0 where there is none."""
    return POSITION[((bits & (~bits + ONE)) * SEQUENCE) >> SHIFT]


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


def within(cells, j, first, low, high):
    """The set of those 64 objects, from `first` on, whose byte in row `j` is from `low` to `high`."""
    found = NONE
    for i in range(WORD):
        inside = low <= cells[j, first + i] <= high
        found |= np.uint64(inside) << np.uint64(i)
    return found


def _instructions():
    """The four of them as single instructions, mostly on vectors."""
    from llvmlite import ir  # type: ignore[import-untyped]  # noqa: PLC0415 - only for the compiler
    from numba.core import cgutils, types  # noqa: PLC0415
    from numba.extending import intrinsic  # noqa: PLC0415

    index_type, vector_type = ir.IntType(64), ir.VectorType(ir.IntType(64), BLOCK)
    bytes_type = ir.VectorType(ir.IntType(8), WORD)

    def pointer(context, builder, array_type, array, index):
        data = context.make_array(array_type)(context, builder, array).data
        if index.type.width < index_type.width:
            index = builder.sext(index, index_type)
        start = builder.gep(data, [builder.mul(index, ir.Constant(index_type, BLOCK))])
        return builder.bitcast(start, vector_type.as_pointer())

    def load(context, builder, array_type, array, index):
        return builder.load(pointer(context, builder, array_type, array, index), align=8)

    def any_of(builder, words):
        flags = builder.icmp_unsigned("!=", words, ir.Constant(vector_type, None))
        together = builder.bitcast(flags, ir.IntType(BLOCK))
        return builder.icmp_unsigned("!=", together, ir.Constant(together.type, 0))

    @intrinsic
    def narrow(_, out, o, sets, s, table, inner, outer):
        def generate(context, builder, signature, args):
            kinds = signature.args
            words = load(context, builder, kinds[2], args[2], args[3])
            at_or_above = load(context, builder, kinds[4], args[4], args[5])
            above = load(context, builder, kinds[4], args[4], args[6])
            words = builder.and_(builder.and_(words, at_or_above), builder.not_(above))
            builder.store(words, pointer(context, builder, kinds[0], args[0], args[1]), align=8)
            return any_of(builder, words)

        return types.boolean(out, o, sets, s, table, inner, outer), generate

    @intrinsic
    def beyond(_, sets, s, others, o, table, inner, outer):
        def generate(context, builder, signature, args):
            kinds = signature.args
            one = load(context, builder, kinds[0], args[0], args[1])
            other = load(context, builder, kinds[2], args[2], args[3])
            at_or_above = load(context, builder, kinds[4], args[4], args[5])
            above = load(context, builder, kinds[4], args[4], args[6])
            both = builder.and_(one, other)
            found = (
                any_of(builder, builder.and_(both, above)),
                any_of(builder, builder.and_(both, builder.not_(at_or_above))),
            )
            return context.make_tuple(builder, signature.return_type, found)

        result = types.UniTuple(types.boolean, 2)
        return result(sets, s, others, o, table, inner, outer), generate

    def repeat(builder, byte):
        nothing = ir.Constant(bytes_type, ir.Undefined)
        single = builder.insert_element(nothing, byte, ir.Constant(ir.IntType(32), 0))
        nowhere = ir.Constant(ir.VectorType(ir.IntType(32), WORD), None)
        return builder.shuffle_vector(single, nothing, nowhere)

    @intrinsic
    def within(_, cells, j, first, low, high):  # noqa: ARG001
        def generate(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            _, width = cgutils.unpack_tuple(builder, array.shape)
            start = builder.add(builder.mul(args[1], width), args[2])
            place = builder.bitcast(builder.gep(array.data, [start]), bytes_type.as_pointer())
            # What is below the lower bound wraps around and is far above it.
            above = builder.sub(builder.load(place, align=1), repeat(builder, args[3]))
            span = repeat(builder, builder.sub(args[4], args[3]))
            return builder.bitcast(builder.icmp_unsigned("<=", above, span), index_type)

        return types.uint64(cells, types.int64, types.int64, types.uint8, types.uint8), generate

    @intrinsic
    def lowest(_, bits):
        def generate(context, builder, signature, args):  # noqa: ARG001
            place = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
            return builder.and_(place, ir.Constant(place.type, WORD - 1))  # of none it is WORD

        return types.int64(bits), generate

    return narrow, beyond, within, lowest


@kernel
def trial(sets, cells, out):
    """What comes of the four for a few sets and bytes."""
    found = narrow(out, 0, sets, 0, sets, 1, 2)
    above, below = beyond(sets, 0, sets, 1, sets, 0, 2)
    word = within(cells, 1, 3, cells[0, 0], cells[0, 1])
    places = lowest(word), lowest(out[0, 7]), lowest(word & ~word)
    return found, out[0, 0], out[0, 7], above, below, places


def _are_sound():
    """Whether compiled they give what they give interpreted."""
    from frri._twins import vectors as interpreted  # noqa: PLC0415, PLW0406 - a twin asks the other

    sets = np.arange(3 * BLOCK, dtype=np.uint64).reshape(3, BLOCK) * SEQUENCE
    cells = np.arange(4 * WORD, dtype=np.uint8).reshape(2, 2 * WORD) * np.uint8(37)
    cells[0, :2] = 40, 200
    found = trial(sets, cells, np.zeros_like(sets))
    with np.errstate(over="ignore"):
        return found == interpreted.trial(sets, cells, np.zeros_like(sets))


# Whether the compiled twin has instructions or loops.
FORM = "loops"

if is_twin(__name__):
    _loops = narrow, beyond, within, lowest
    try:
        narrow, beyond, within, lowest = _instructions()
        FORM = "instructions" if _are_sound() else FORM
    except Exception:  # noqa: BLE001, S110 - whatever another compiler or machine may say
        pass
    if FORM == "loops":
        narrow, beyond, within, lowest = (kernel(loop) for loop in _loops)
