// Package wire is what tests on the host and the agent in the guest say to each
// other: JSON values over a virtio port.
package wire

// Port is the name of the virtio port.
const Port = "nativ"

// A Request asks the agent to start a program, to signal one, or to end.
type Request struct {
	// ID is the program's, chosen by who asks.
	ID    int
	Args  []string `json:",omitempty"`
	Env   []string `json:",omitempty"`
	Stdin string   `json:",omitempty"`
	// Signal is sent to the program that was started with ID.
	Signal   int  `json:",omitempty"`
	PowerOff bool `json:",omitempty"`
}

// A Reply is a piece of a program's output, or its end. The first of all has
// no ID and says that the guest is up.
type Reply struct {
	ID             int
	Stdout, Stderr []byte `json:",omitempty"`
	Ended          bool   `json:",omitempty"`
	// Code is the exit code, 128 + n where a signal ended the program.
	Code int `json:",omitempty"`
}
