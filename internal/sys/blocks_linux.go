package sys

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Blocks are buffers for I/O in mapped memory, which the garbage collector
// neither sees nor moves.
type Blocks struct {
	mem    []byte
	words  []uint64
	size   int64 // of a block
	stride int64 // between blocks
	count  int
}

// MapBlocks maps count blocks of size bytes, a multiple of 8, each aligned to a
// page and to align, a power of two.
func MapBlocks(count int, size, align int64) (*Blocks, error) {
	align = max(int64(os.Getpagesize()), align)
	b := &Blocks{size: size, stride: (size + align - 1) / align * align, count: count}
	all := b.stride * int64(count)
	m, err := unix.Mmap(-1, 0, int(all+align), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of buffers: %w", all, err)
	}
	b.mem = m
	skip := -int64(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (align - 1)
	m = m[skip : skip+all]
	b.words = unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(m))), len(m)/8)
	return b, nil
}

// Close unmaps the blocks.
func (b *Blocks) Close() error {
	if b.mem == nil {
		return nil
	}
	err := unix.Munmap(b.mem)
	b.mem, b.words = nil, nil
	return err
}

// All is all blocks and what is between them.
func (b *Blocks) All() []uint64 { return b.words }

// Words are the first n bytes of block i, a multiple of 8.
func (b *Blocks) Words(i uint32, n int64) []uint64 {
	at := int64(i) * b.stride / 8
	return b.words[at : at+n/8]
}

// Bytes is the same as bytes.
func (b *Blocks) Bytes(i uint32, n int64) []byte {
	w := b.Words(i, n)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n)
}

// Base is the address of block 0, Stride the distance to the next in bytes.
func (b *Blocks) Base() uint64   { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b.words)))) }
func (b *Blocks) Stride() uint64 { return uint64(b.stride) }

// A Wait is the timeout of io_uring_enter in memory that never moves.
type Wait struct {
	Arg *GetEventsArg
	ts  *Timespec
	mem []byte
}

// MapWait makes a Wait.
func MapWait() (*Wait, error) {
	m, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map the timeout of io_uring: %w", err)
	}
	type wait struct {
		arg GetEventsArg
		ts  Timespec
	}
	w := (*wait)(unsafe.Pointer(unsafe.SliceData(m)))
	w.arg.TS = uint64(uintptr(unsafe.Pointer(&w.ts)))
	return &Wait{Arg: &w.arg, ts: &w.ts, mem: m}, nil
}

// Set sets the timeout in nanoseconds, below a second.
func (w *Wait) Set(ns int64) { w.ts.Nsec = ns }

// Close unmaps the Wait.
func (w *Wait) Close() error {
	if w.mem == nil {
		return nil
	}
	err := unix.Munmap(w.mem)
	w.mem, w.Arg, w.ts = nil, nil, nil
	return err
}
