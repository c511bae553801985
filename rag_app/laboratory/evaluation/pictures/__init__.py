"""Pictures of measurements: in, a report; out, a PNG, without a display."""
