"""An encoder's cosines in, cosines on the scale of the packaged encoder out."""
