"""Contacts: which pairs of types there are (pair_types), which pairs can touch (candidates, reach), margins, and
where contacts are kept between the stages of a kernel. Begin with contacts_lanes.py; tests in
tests/stages/broadphase, narrowphase and contact_params.
"""
