// Package target says where a test file lies, down to the drive, and keeps the
// safety gate: only what nativ made itself is ever written, and only through a
// Claim that the gate gave.
package target
