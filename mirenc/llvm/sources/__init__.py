"""Many programs to a folder of IR: source trees, build commands, Parquet files."""
