// Package storage asks ZFS's own programs what the kernel does not show: how a
// dataset treats its files, and which devices its pool is made of.
package storage
