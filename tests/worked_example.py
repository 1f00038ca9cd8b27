"""The didactic example of the paper: seven objects of Pima, eight attributes, two classes."""

import numpy as np

NAMES = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"]

# Raw values; min-max scaling gives the paper's table, which prints two decimals.
X = np.array(
    [
        [1, 101, 50, 15, 36, 24.2, 0.526, 26],
        [8, 176, 90, 34, 300, 33.7, 0.467, 58],
        [7, 150, 66, 42, 342, 34.7, 0.718, 42],
        [7, 187, 68, 39, 304, 37.7, 0.254, 41],
        [0, 100, 88, 60, 110, 46.8, 0.962, 31],
        [0, 105, 64, 41, 142, 41.5, 0.173, 22],
        [1, 95, 66, 13, 38, 19.6, 0.334, 25],
    ]
)
Y = np.array([0, 1, 0, 1, 0, 0, 0])

# The scaled values as the paper prints them.
PRINTED = np.array(
    [
        [0.12, 0.07, 0.00, 0.04, 0.00, 0.17, 0.45, 0.11],
        [1.00, 0.88, 1.00, 0.45, 0.86, 0.52, 0.37, 1.00],
        [0.88, 0.60, 0.40, 0.62, 1.00, 0.56, 0.69, 0.56],
        [0.88, 1.00, 0.45, 0.55, 0.88, 0.67, 0.10, 0.53],
        [0.00, 0.05, 0.95, 1.00, 0.24, 1.00, 1.00, 0.25],
        [0.00, 0.11, 0.35, 0.60, 0.35, 0.81, 0.00, 0.00],
        [0.12, 0.00, 0.40, 0.00, 0.01, 0.00, 0.20, 0.08],
    ]
)

CONFIDENCES = np.array([0.934783, 0.6, 0.588086, 0.588086, 0.945652, 0.891304, 0.916667])

# The conditions left after shortening, attributes in the order a1 to a8.
CONDITIONS = [
    {"a2": "AT_MOST", "a3": "AT_MOST"},
    {"a3": "AT_LEAST", "a8": "AT_LEAST"},
    {"a3": "AT_MOST", "a7": "AT_LEAST"},
    {"a2": "AT_LEAST", "a7": "AT_MOST"},
    {"a1": "AT_MOST", "a2": "AT_MOST"},
    {"a2": "AT_MOST", "a8": "AT_MOST"},
    {"a2": "AT_MOST", "a8": "AT_MOST"},
]
KINDS = [[rule.get(name, "UNUSED") for name in NAMES] for rule in CONDITIONS]

# Row: the rule of an object; column: the object it covers or not.
TABLE = np.array(
    [
        [1, 0, 1, 0, 0, 1, 1],
        [0, 1, 0, 1, 0, 0, 0],
        [1, 0, 1, 0, 1, 0, 1],
        [0, 1, 0, 1, 0, 0, 0],
        [1, 0, 1, 0, 1, 1, 1],
        [1, 0, 1, 0, 1, 1, 1],
        [1, 0, 1, 0, 1, 1, 1],
    ],
    dtype=bool,
)

# Chosen rules: those of u2 and u5 (one of several minimal covers, and the first in order).
SELECTED = [1, 4]

# The new object of the inference example, already scaled, and the scores of classes 0 and 1 when
# the anchors' values are taken as printed.
NEW_OBJECT = np.array([0.12, 0.40, 0.45, 0.48, 0.00, 0.48, 0.30, 0.50])
NEW_OBJECT_SCORES = [0.595652, 0.05]
NEW_OBJECT_CLASS = 0
