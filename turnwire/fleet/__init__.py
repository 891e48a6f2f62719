"""Sessions here, frontends there: what workers and hubs say to each other through Redis."""
