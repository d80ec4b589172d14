"""A profile without a run: where branches go and how long loops run (`StaticProfile`), written into IR as weights."""

from mirenc.profiling.static import TRIP_CLASSES as TRIP_CLASSES, Profile as Profile, StaticProfile as StaticProfile
from mirenc.profiling.writing import with_weights as with_weights
