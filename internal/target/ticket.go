package target

// A Ticket names the file that a claim was made on, so that a worker in
// another mount namespace can find it again and be sure that it is that one.
// It is not a path to trust: Reopen checks all of it.
type Ticket struct {
	// Path is where the worker's place sees the file.
	Path     string `json:"path"`
	DevMajor uint32 `json:"dev_major"`
	DevMinor uint32 `json:"dev_minor"`
	Ino      uint64 `json:"ino"`
	Size     int64  `json:"size_bytes"`
	// Nonce is part of the file's name: 128 random bits in hexadecimal. It is
	// empty where the file is Foreign.
	Nonce string `json:"nonce"`
	// Foreign says that the file is not nativ's: it was there before, under a
	// name of its own, and may only be read. A ticket that is Foreign and
	// Write is refused, unless it is a Device with consent.
	Foreign bool `json:"foreign,omitempty"`
	// Device is set where the ticket names a block device, which is always
	// Foreign. It may be written to with the consent in it alone.
	Device *DeviceTicket `json:"device,omitempty"`
	// Write says whether the pass writes; a claim made from a ticket without
	// it is opened read-only.
	Write bool `json:"write"`
	// Direct asks for O_DIRECT.
	Direct bool `json:"direct"`
	// Sync is how the file is opened for writing: "sync" (O_SYNC), "dsync"
	// (O_DSYNC), or "" or "none" for neither (fio: sync).
	Sync string `json:"sync,omitempty"`
}
