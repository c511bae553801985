"""What measures the product and tunes it: figures out. Nothing of the product imports it."""
