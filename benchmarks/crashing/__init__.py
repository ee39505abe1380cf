"""The parts of ``benchmarks/crash.py``: a writer that is killed, readers beside it, and what must hold."""
