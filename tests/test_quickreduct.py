"""QuickReduct: comparison with its definition, scikit-learn checks and bad input."""

import pickle
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_rough as naive
from frri.fuzzy import Scaling, lukasiewicz, positive_region, relation
from frri.learners.quickrules import PositiveRegion, QuickReduct
from frri.table import describe_columns
from thorough import often


@parametrize_with_checks([QuickReduct(), QuickReduct(t_norm="minimum", ties="last")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@settings(deadline=None, max_examples=often(160))
@given(
    st.data(),
    st.sampled_from(["minimum", "product", "lukasiewicz", "hamacher"]),
    st.sampled_from(["first", "last"]),
)
def test_reducts_follow_the_definition(data, t_norm, ties):
    n, m = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    numbers = st.sampled_from([0.0, 0.1, 0.3, 2.0, 7.0])
    rows = data.draw(st.lists(st.lists(numbers, min_size=m, max_size=m), min_size=n, max_size=n))
    classes = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    model = QuickReduct(t_norm=t_norm, ties=ties).fit(rows, classes)
    assert model.reduct_.tolist() == naive.quickreduct(rows, classes, t_norm, ties, [False] * m)
    assert model.get_support(indices=True).tolist() == sorted(model.reduct_)
    region = naive.positive_region(rows, classes, model.reduct_.tolist(), t_norm, [False] * m)
    assert model.dependency_ == pytest.approx(sum(region) / n, abs=1e-12)


def test_positive_region_is_that_of_the_theory():
    X, y = load_wine(return_X_y=True)
    attributes = describe_columns(X, map(str, range(X.shape[1])))
    region = PositiveRegion(X, y, attributes, "lukasiewicz", "kleene_dienes")
    chosen = [2, 0, 9]
    similar = relation(Scaling.fit(X).transform(X), attributes=chosen, t_norm=lukasiewicz)
    (found,) = region.extended(chosen[:-1], chosen[-1:])
    np.testing.assert_allclose(found, positive_region(similar, y), atol=1e-12)


def test_dependency_of_the_reduct_is_that_of_all_attributes():
    X, y = load_wine(return_X_y=True)
    for t_norm in ("lukasiewicz", "minimum", "hamacher"):
        model = QuickReduct(t_norm=t_norm).fit(X, y)
        assert model.dependency_ == pytest.approx(model.full_dependency_, rel=1e-9)
        assert 0 < len(model.reduct_) <= X.shape[1]


def test_useless_attributes_are_left_out():
    random = np.random.default_rng(0)
    good = np.repeat([0.0, 1.0], 20)
    X = np.column_stack([np.full(40, 3.0), random.random(40), good])
    model = QuickReduct().fit(X, good.astype(int))
    assert model.reduct_.tolist() == [2]
    assert model.transform(X).tolist() == good[:, None].tolist()


def test_frames_names_output_and_pipeline():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = QuickReduct(t_norm="drastic").fit(X, y)
    names = model.get_feature_names_out()
    assert names.tolist() == X.columns[model.get_support()].tolist()
    chosen = model.set_output(transform="pandas").transform(X)
    assert isinstance(chosen, pd.DataFrame)
    assert chosen.columns.tolist() == names.tolist()
    back = model.inverse_transform(chosen)
    assert back.shape == X.shape
    pipeline = make_pipeline(QuickReduct(), KNeighborsClassifier()).fit(X, y)
    assert pipeline.score(X, y) > 0.7
    assert pickle.loads(pickle.dumps(model)).reduct_.tolist() == model.reduct_.tolist()
    assert clone(model).get_params() == model.get_params()


def test_labels_of_any_type():
    X = [[0.0, 1.0], [1.0, 1.0]]
    for y in (["a", "b"], [True, False], [3, -1]):
        assert QuickReduct().fit(X, y).reduct_.tolist() == [0]


def test_bad_input():
    with pytest.raises(ValueError, match="t_norm must be one of"):
        QuickReduct(t_norm="or").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="ties must be one of"):
        QuickReduct(ties="any").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="Column 0 holds inf"):
        QuickReduct().fit([[inf], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="Missing values"):
        QuickReduct().fit([[nan], [2.0]], [0, 1])
