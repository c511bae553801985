"""Tools for other programs over MCP."""
