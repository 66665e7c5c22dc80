package drives

import _ "embed"

// Ratings are what makers say of their drives; package rating reads them.
//
//go:embed ratings.json
var Ratings []byte
