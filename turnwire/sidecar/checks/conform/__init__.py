"""`turnwire conform`: start the conformance kit of turnwire/frontends/conform/."""
