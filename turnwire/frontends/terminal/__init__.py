"""A terminal as a frontend: `turnwire attach`, on the Python client. The interface is Textual's, the line mode needs nothing."""
