// Package sys is the kernel's ABI: the system calls and structures that no
// library mirrors, and the errors that they answer with, explained. It holds
// no policy.
//
// Structures start with structs.HostLayout, name their C origin, pad
// explicitly and have their size checked at compile time.
package sys
