"""The HTTP door: one engine for many callers, over MCP and a JSON API, behind tokens."""
