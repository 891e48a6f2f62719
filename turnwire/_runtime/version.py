"""The version of this turnwire, as it is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("turnwire")
except PackageNotFoundError:  # run from a checkout that is not installed
    VERSION = "0+checkout"
