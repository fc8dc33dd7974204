// Package lint holds the project's own rules for its source: calls that are forbidden, each with the attack as the reason,
// and what every package has to have. The rules run as tests. It guarantees nothing about code that reaches a
// forbidden call through a variable or another module.
package lint
