"""Many programs to a folder of IR: source trees, build commands, Debian packages, Parquet files."""
