"""The application, and the tab of a view -> the view, with its events: a view a file."""
