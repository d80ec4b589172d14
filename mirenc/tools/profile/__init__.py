"""How often code runs: predicted without a run (`StaticProfile`), or counted by one, which may have gaps.

`read_profile` reads what was counted, `repair_counts` makes a flow of it, and `with_profile` writes ``!prof`` into IR.
"""

from mirenc.tools.profile.counts import Counters as Counters, LineSamples as LineSamples, read_profile as read_profile
from mirenc.tools.profile.repair import repair_counts as repair_counts
from mirenc.tools.profile.static_profile import (
    TRIP_CLASSES as TRIP_CLASSES,
    Prediction as Prediction,
    StaticProfile as StaticProfile,
)
from mirenc.tools.profile.write_profile import (
    counted_weights as counted_weights,
    predicted_weights as predicted_weights,
    with_profile as with_profile,
)
