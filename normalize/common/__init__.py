"""Parts that the cores of several families share."""
