"""What a session leaves behind: spans, metrics and recordings; and how a recording is read again."""
