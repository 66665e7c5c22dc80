// Package enginetest is the conformance suite of worker.Engine: what a pass
// must do whatever engine does it. It works on real files.
package enginetest
