"""Models on disk: shipped, announced by other packages, and folders; find, load, save, verify. Maps of one's own."""

from mirenc.encoder.weights.checksums import seal
from mirenc.encoder.weights.find import DEFAULT_MODEL, find_model, is_model_name, list_models, search_model
from mirenc.encoder.weights.maps import WhiteningMap, list_maps, load_map, map_path, save_map
from mirenc.encoder.weights.provenance import Source, ancestry, ir_projects, read_provenance, seen_by, write_provenance
from mirenc.encoder.weights.store import ModelFiles, load_files, save_files, verify_files

__all__ = [
    "DEFAULT_MODEL",
    "ModelFiles",
    "Source",
    "WhiteningMap",
    "ancestry",
    "find_model",
    "ir_projects",
    "is_model_name",
    "list_maps",
    "list_models",
    "load_files",
    "load_map",
    "map_path",
    "read_provenance",
    "save_files",
    "save_map",
    "seal",
    "search_model",
    "seen_by",
    "verify_files",
    "write_provenance",
]
