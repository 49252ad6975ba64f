"""Flexes: which dofs change the length of an edge (`edge_rows`), elements as tables (`elements_numpy`), names of
their shapes (`shapes`). Compare mj_flex."""
