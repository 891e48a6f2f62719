"""Commands that speak a protocol over their own stdin and stdout."""
