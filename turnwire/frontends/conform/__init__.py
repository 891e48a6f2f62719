"""The conformance kit: agents and frontends are tried, and told what they hold and where they break their protocol.

It is a frontend itself, and knows of the house what any frontend knows.
"""
