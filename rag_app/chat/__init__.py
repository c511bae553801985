"""The served application: chat in the browser, tools for other programs, an API."""
