"""A viewer in the browser, on viser (the extra `viewer`)."""
