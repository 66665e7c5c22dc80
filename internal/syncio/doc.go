// Package syncio has the engines that do one I/O at a time by a system call of
// its own: psync (pread and pwrite) and sync (lseek, read and write).
//
// While a device holds an I/O, nothing can take it back: a pass on a stalled
// device ends with its worker and not before.
package syncio
