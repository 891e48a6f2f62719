"""Commands that read recordings and write text: translate, inspect, redact."""
