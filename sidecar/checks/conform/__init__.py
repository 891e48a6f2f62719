"""`turnwire conform`: what the conformance kit (frontends/conform/) is started with."""
