// Package cli tests the command line as a user meets it: exit statuses, messages, help, odd input. Each script in
// testdata/script is named by its subject. The package guarantees nothing about confinement; tests/escape does.
package cli
