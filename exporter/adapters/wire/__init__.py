"""Sockets, TLS and HTTP/1.1 with a receive stamp on every byte."""
