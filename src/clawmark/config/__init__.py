"""Settings: typed, layered, and each with the place it came from."""

from clawmark.config.describing import describe
from clawmark.config.folders import user_cache_dir, user_config_file
from clawmark.config.load import LoadedSettings, load_settings
from clawmark.config.schema import all_keys
from clawmark.config.settings import EmbeddingSettings, Settings

__all__ = [
    "EmbeddingSettings",
    "LoadedSettings",
    "Settings",
    "all_keys",
    "describe",
    "load_settings",
    "user_cache_dir",
    "user_config_file",
]
