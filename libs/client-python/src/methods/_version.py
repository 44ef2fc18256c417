"""The version of the package: read by the build and sent in the user agent."""

__version__ = "0.1.0"
