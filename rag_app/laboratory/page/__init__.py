"""Reports of measurements in, the view of the page that shows them out."""
