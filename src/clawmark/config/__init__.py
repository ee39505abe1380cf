"""Settings: typed, layered, and each with the place it came from."""

from clawmark.config.load import (
    LoadedSettings,
    describe,
    load_settings,
    user_cache_dir,
    user_config_file,
)
from clawmark.config.settings import Settings

__all__ = ["LoadedSettings", "Settings", "describe", "load_settings", "user_cache_dir", "user_config_file"]
