"""Published datasets: what they are, where they come from, and reading them from a folder.

None of their files is part of mirenc. The package carries, for each dataset, an entry (``NAME.toml``: title, licence,
source, public addresses) and its checksums (``NAME.sha256``); `fetch` puts the files where `dataset_folder` finds them.
"""
