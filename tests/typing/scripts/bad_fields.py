"""Misspelt fields: every marked line is an error, no other is."""

import dovetail

model = dovetail.load("humanoid")
sim = dovetail.Simulation(model)
data = sim.data

print(data.qpso)  # wrong: qpso
data.qpso = 1  # wrong: qpso
data.ctlr[:] = 0.1  # wrong: ctlr
print(data.contact.frictoin[0])  # wrong: frictoin
print(data.solver.improvment)  # wrong: improvment
print(data.body("torso").xpso)  # wrong: xpso
print(data.joint("knee").qpso)  # wrong: qpso
print(data.geom("floor").friction)  # wrong: friction
print(model.nbdoy)  # wrong: nbdoy
print(model.geom_fricton)  # wrong: geom_fricton
model.opt.timestp = 0.01  # wrong: timestp
print(model.opt.timestp)  # wrong: timestp
print(model.stat.extend)  # wrong: extend
print(model.vis.map.zneer)  # wrong: zneer
print(model.vis.mpa)  # wrong: mpa
print(model.geom("floor").fricton)  # wrong: fricton
model.nq = 3  # wrong: nq
print(sim.dat)  # wrong: dat
