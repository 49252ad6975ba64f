"""Flexes: which dofs change the length of an edge (`edge_rows`). Compare mj_flex."""
