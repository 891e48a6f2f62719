"""This sidecar in a fleet: as a worker that has sessions, or as a hub that has frontends."""
