"""A profile without a run: where branches go and how long loops run (`StaticProfile`), written into IR as weights."""

from mirenc.tools.profile.static_profile import (
    TRIP_CLASSES as TRIP_CLASSES,
    Profile as Profile,
    StaticProfile as StaticProfile,
)
from mirenc.tools.profile.write_profile import with_weights as with_weights
