"""Messages to addresses outside: webhooks and web push."""
