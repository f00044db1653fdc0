"""Load on a server over HTTP, beside the same load on a daemon."""
