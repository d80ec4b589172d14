"""The GCN over the three flows."""
