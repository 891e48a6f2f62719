"""What the cores of several families are made of."""
