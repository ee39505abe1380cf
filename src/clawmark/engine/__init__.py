"""The engine: ``Memory`` and ``AsyncMemory``, the classes that users learn."""
