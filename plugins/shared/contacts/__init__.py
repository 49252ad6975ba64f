"""Contacts: which pairs can touch (candidates, reach, pairs in lanes), margins, what a contact's force is, and how
contacts pass between Data and kernels. Begin with contacts_lanes.py; tests in tests/stages/broadphase, narrowphase
and contact_params.
"""
