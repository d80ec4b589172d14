"""Heads as ONNX: onnxruntime answers as Python does, for every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every_head import FEATURES, HEADS, fitted

from mirenc.decide import Settings
from mirenc.decide.export.formula import pair_head

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from mirenc.decide.export.onnx_model import onnx_model  # noqa: E402 - it needs onnx

ROWS = np.random.default_rng(3).normal(size=(1000, 9)) * np.where(np.arange(1000) % 10 == 9, 1000.0, 1.0)[:, None]


@pytest.mark.parametrize("name", HEADS)
def test_onnxruntime_answers_as_python(name: str) -> None:
    head: Any = fitted(name)
    model, pairs = onnx_model(head, ["a", "b"], ["c"]), pair_head(head)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert session.get_modelmeta().custom_metadata_map == {"features": "a\nb", "choices": "c"}
    asked: list[dict[str, np.ndarray]] = [{"features": ROWS}]
    told: tuple[Settings, ...] = ()
    if pairs is not None:  # which takes a row at a time
        settings = np.random.default_rng(1).normal(size=(head.n_choices_, len(pairs.setting_middle_)))
        told = (Settings(settings, np.tile(np.arange(len(settings)), (len(ROWS), 1))),)
        asked = [{"features": row[None], "settings": settings} for row in ROWS]
    ask = head.predict_proba if hasattr(head, "predict_proba") else head.predict
    wanted = ask(ROWS, *told).reshape(len(ROWS), -1)
    names = [one.name for one in session.get_outputs()]
    answers = [dict(zip(names, session.run(None, each), strict=True)) for each in asked]
    score = np.concatenate([each["score"] for each in answers])
    np.testing.assert_allclose(score, wanted, rtol=1e-9, atol=1e-9)
    assert ("choice" in answers[0]) == hasattr(head, "predict_proba")
    if "choice" in answers[0]:
        np.testing.assert_array_equal(np.concatenate([each["choice"] for each in answers]), wanted.argmax(axis=1))
    assert FEATURES.shape[1] == session.get_inputs()[0].shape[1]
