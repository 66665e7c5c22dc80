// Package vm tests nativ in virtual machines, for what a build machine has not:
// a real kernel NVMe driver whose drive heats up, throttles, has several paths
// or is pulled out, and pure cgroup v2 with AppArmor.
//
// QEMU emulates the processor, so that the tests run anywhere and measure
// function, never speed. The guest is made by mkimage; its init and agent are
// in guest. A machine has no file and no socket with a name: whatever ends the
// tests, the kernel ends QEMU and frees all of it.
package vm
