# Written by scripts/generate_sync.py from methods/_async/__init__.py.
