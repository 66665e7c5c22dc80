// Package pve speaks to Proxmox VE through its own programs: pct, pvesm, pvesh,
// pveam, pveversion, qm, lvs and pvs. It asks, makes and removes; what for is decided
// elsewhere.
//
// Its one job is that an answer can be believed. Exit codes of these programs
// are not: pct push and pvesm free succeed when they fail, others end with
// whatever errno happened to be set. So whatever was done is looked at
// afterwards, and errors are told apart by what was said.
//
// Only a container that a run of nativ made can be changed: the methods that do
// are those of CT, and Own makes one only of a container that carries the run's
// mark. It is looked at again before each change.
//
// A program that was started is asked to end and never killed: pct passes
// SIGTERM on to its worker, which rolls back, while SIGKILL leaves the worker
// running, the container locked, and its volume mounted.
package pve
