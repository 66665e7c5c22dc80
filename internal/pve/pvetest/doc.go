// Package pvetest is a Proxmox VE host for tests: one test binary that is pct,
// pvesm, pvesh, pveam, pveversion, qm, lvs and pvs, whichever name it is called by,
// with its state in a directory. What it prints, how it ends and how it locks is
// that of PVE 9, lies included; faults that the real one has now and then are
// asked for by name.
//
// Volumes are real: images with ext4 on loop devices, mounted as PVE mounts
// them. Containers are real, too: LXC's own, started from such a volume, and
// pct exec attaches to them.
package pvetest
