"""What is told to addresses outside: webhooks and push messages."""
