"""Flexes: which dofs change the length of an edge (`edge_rows`), vertices and edges of elements (`elements_numpy`),
what collision asks of elements (`element_boxes_numpy`), names of their shapes (`shapes`), how much nodes move a place
(`interpolation_numpy`). Compare mj_flex."""
