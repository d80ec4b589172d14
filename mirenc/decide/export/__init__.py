"""Heads as C and as ONNX."""
