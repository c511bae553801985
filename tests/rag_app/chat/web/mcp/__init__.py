"""Tests of the tools over MCP."""
