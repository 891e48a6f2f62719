"""`turnwire conform`: what the conformance kit (turnwire/frontends/conform/) is started with."""
