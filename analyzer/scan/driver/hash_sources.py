"""hash_sources.py OUTPUT SOURCE...: a C++ file with one hash over all sources."""
import hashlib
import pathlib
import sys

output, *sources = sys.argv[1:]
whole = hashlib.sha256()
for source in sorted(map(pathlib.Path, sources), key=lambda path: path.name):
    content = source.read_bytes()
    whole.update(f"{source.name} {len(content)}\n".encode() + content)
pathlib.Path(output).write_text(
    "namespace reprobe::scan {\n"
    "extern const char* const kExtractionSources;\n"
    f'const char* const kExtractionSources = "{whole.hexdigest()}";\n'
    "} // namespace reprobe::scan\n"
)
