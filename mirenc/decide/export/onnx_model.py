"""A head as an ONNX model in double precision, for onnxruntime and what else runs such files."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mirenc.base.errors import needs
from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.trees import Forest
from mirenc.decide.export.formula import Operand, Vector, Writer, pair_head, write

with needs("onnx", "writing ONNX needs more packages"):
    from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

_OPSETS = {"": 18, "ai.onnx.ml": 3}


class _OnnxWriter(Writer):
    def __init__(self) -> None:
        self.constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.initializers: list[TensorProto] = []
        self.nodes: list[Any] = []

    def add(self, operator: str, *inputs: str | Operand, output: str = "", domain: str = "", **attributes: Any) -> str:
        """Add a node; inputs that are no names are constants, each of which is kept once."""
        names = []
        for one in inputs:
            if isinstance(one, (str, Vector)):
                names.append(one if isinstance(one, str) else one.name)
                continue
            array = np.asarray(one, dtype=np.int64 if np.asarray(one).dtype.kind in "iu" else np.float64)
            key = (array.dtype.str, array.shape, array.tobytes())
            if key not in self.constants:
                self.constants[key] = f"c{len(self.constants)}"
                self.initializers.append(numpy_helper.from_array(array, self.constants[key]))
            names.append(self.constants[key])
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [output], domain=domain, **attributes))
        return output

    def node(self, operator: str, *operands: Operand, width: int = 0) -> Vector:
        if operator == "Slice":
            operands = (operands[0], *(np.array([one]) for one in (*operands[1:], 1)))
        elif operator == "ReduceSum":
            operands = (*operands, np.array([1]))
        axis: dict[str, Any] = {"axis": 1} if operator in ("Concat", "Gather") else {}
        widest = max(one.width for one in operands if isinstance(one, Vector))
        return Vector(self, self.add(operator, *operands, **axis), width or widest)

    def forest(self, x: Vector, forest: Forest, *, single: bool) -> Vector:
        # A tree's answer is the number of its leaf: the operator has no leaves of several numbers, and rounds sums.
        nodes = np.arange(len(forest.column))
        tree = np.searchsorted(forest._root, nodes, side="right") - 1
        inner, number = forest.column >= 0, nodes - forest._root[tree]
        kind, cast = (np.float32, TensorProto.FLOAT) if single else (np.float64, TensorProto.DOUBLE)
        row = self.add("Cast", x, to=cast)
        cut, leaf = np.where(inner, forest._cut, 0.0).astype(kind), forest._leaf[~inner].astype(kind)
        values: dict[str, Any] = {"nodes_values": cut.tolist(), "target_weights": leaf.tolist()}
        if not single:
            values = {f"{name}_as_tensor": numpy_helper.from_array(np.array(one)) for name, one in values.items()}
        number_of_leaf = self.add(
            "TreeEnsembleRegressor",
            row,
            domain="ai.onnx.ml",
            n_targets=len(forest._root),
            nodes_treeids=tree.tolist(),
            nodes_nodeids=number.tolist(),
            nodes_featureids=forest._column.tolist(),
            nodes_modes=np.where(inner, "BRANCH_LEQ", "LEAF").tolist(),
            nodes_truenodeids=np.where(inner, number + 1, 0).tolist(),
            nodes_falsenodeids=np.where(inner, forest._child[::2] - forest._root[tree], 0).tolist(),
            target_treeids=tree[~inner].tolist(),
            target_nodeids=number[~inner].tolist(),
            target_ids=tree[~inner].tolist(),
            **values,
        )
        leaves = self.add("Gather", forest.value, self.add("Cast", number_of_leaf, to=TensorProto.INT64))
        return Vector(self, self.add("ReduceSum", leaves, np.array([1]), keepdims=0), forest.value.shape[1])

    def each_setting(self, x: Vector, head: PairHead, cost: Callable[[Vector, Vector], Vector]) -> Vector:
        setting = Vector(self, "settings", len(head.setting_middle_))
        # A row for each setting: zeros of theirs are added to the one row of features.
        rows = Vector(self, self.add("Add", setting.apply("Slice", 0, 1, width=1) * 0.0, x), x.width)
        return Vector(self, self.add("Reshape", cost(rows, setting), np.array([1, -1])), head.n_choices_)


def onnx_model(head: Any, features: Sequence[str] = (), choices: Sequence[str] = ()) -> ModelProto:
    """A head as ONNX: ``features`` (n, D) float64 to ``choice`` (n,) int64, where it chooses, and ``score`` (n, K).

    ``score`` is `predict_proba`, else `predict`, up to rounding; names of features and choices are in the model's
    metadata. A head that is told of settings takes one row of features, and its ``settings`` (K, F). NaN is not
    refused, as it is in Python. Raises HeadError: a head of a kind not mirenc's own; MissingExtraError: no onnx.
    """
    to, pairs = _OnnxWriter(), pair_head(head)
    score = write(head, to, Vector(to, "features", head.n_features_in_))
    to.add("Identity", score, output="score")
    rows, double = 1 if pairs else "rows", TensorProto.DOUBLE
    inputs = [helper.make_tensor_value_info("features", double, (rows, head.n_features_in_))]
    if pairs is not None:
        inputs.append(helper.make_tensor_value_info("settings", double, ("settings", len(pairs.setting_middle_))))
    outputs = [helper.make_tensor_value_info("score", double, (rows, "settings" if pairs else score.width))]
    if hasattr(head, "predict_proba"):
        to.add("ArgMax", "score", output="choice", axis=1, keepdims=0)
        outputs.insert(0, helper.make_tensor_value_info("choice", TensorProto.INT64, (rows,)))
    graph = helper.make_graph(to.nodes, "head", inputs, outputs, to.initializers)
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="mirenc")
    helper.set_model_props(model, {"features": "\n".join(features), "choices": "\n".join(choices)})
    checker.check_model(model)
    return model
