"""Live sessions: their life from launch to deletion, and what is known of them."""
