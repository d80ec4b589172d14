"""What an input is: a path, text, bitcode, a source, a folder, a compile_commands.json; sources to IR."""
