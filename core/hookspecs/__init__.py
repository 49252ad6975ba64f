"""Every hook of dovetail, one module per phase. A stage's contract is its hookspec: signature, reads, writes."""
