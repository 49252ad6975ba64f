"""Comparing implementations with each other and with MuJoCo 3.4.0, stage by stage.

from dovetail.compare.conform import conform    # a model against MuJoCo
from dovetail.compare.ab import compare         # two implementations of one stage
from dovetail.compare.diff import diff          # two Data, field by field
from dovetail.compare.shadow import Shadow      # a second implementation beside the first, in a running Simulation
from dovetail.compare.dump import replay        # a divergence that a Shadow wrote to a file
from dovetail.compare.minimise import minimise  # the smallest model and state that still show a fault
"""
