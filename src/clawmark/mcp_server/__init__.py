"""The memory tools as an MCP server: over stdio, or over HTTP on this machine."""
