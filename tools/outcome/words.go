package outcome

// wording is one row of the narrator. said follows the quoted name (or the word "this"), remedy follows as sentences.
type wording struct {
	label  string
	code   Code
	said   string
	remedy string
}

// words has no row for Denied: it is told as NotFound.
//
// The remedies name no tool, since which tools exist differs from set to set.
var words = [outcomeEnd]wording{
	NotFound: {"not-found", CodeRefused, "was not found",
		"Check the spelling, and list the directory it should be in to see what there is."},
	WriteDenied: {"write-denied", CodeRefused, "may not be written: the sandbox's settings keep this place closed for writing",
		"Save under another path. If it has to be this one, ask the user to open it in the settings."},
	GateDeclined: {"gate-declined", CodeRefused, "was not approved",
		"Nothing was done. Do something else, or ask the user what they would approve."},
	GateUnavailable: {"gate-unavailable", CodeFailed, "could not be put to the approver, which failed",
		"Nothing was done. Tell the user that approvals do not work; try again only when they say so."},
	ScopeLimited: {"scope-limited", "", "was not entered below the depth that was asked for",
		"Raise max_depth, or leave it out, to see what lies deeper."},
	ResultLimited: {"result-limited", "", "had more results than the limit that was asked for",
		"Raise limit, or leave it out, to see the rest; or narrow the search."},
	NotRegularFile: {"not-a-regular-file", CodeRefused, "is a pipe, a socket or a device and is never opened",
		"Choose a regular file or a directory."},
	IsDirectory: {"is-a-directory", CodeRefused, "is a directory",
		"Name a file in it; list the directory to see which there are."},
	NotDirectory: {"not-a-directory", CodeRefused, "is not a directory, or something on the way to it is not",
		"Name a directory; a file is opened, not listed or entered."},
	PathRejected: {"path-rejected", CodeRefused, "is not a path of this workspace", ""},
	ParentMissing: {"parent-missing", CodeRefused, "is to lie in a directory that does not exist",
		"Set parents to have the directory made, or save under another path."},
	LinkOnWritePath: {"link-on-write-path", CodeRefused, "leads through a symbolic link, and no write follows one",
		"Save under the real path of the place; listings show which entries are links."},
	OutsideWriteRoot: {"outside-write-root", CodeRefused, "lies outside the part of the workspace where saving is allowed",
		"Save under the write root instead."},
	SandboxViolation: {"sandbox-violation", CodeRefused, "was stopped by the sandbox",
		"Do without what was denied, or ask the user to open it in the settings."},
	NonzeroExit: {"nonzero-exit", "", "ended with a status other than 0",
		"Read its output to see why."},
	NoMatches: {"no-matches", "", "matched nothing",
		"Widen the pattern or the place; hidden and ignored files are left out unless they are asked for."},
	UnknownMedia: {"unknown-media", CodeRefused, "is not a medium of this session, or it was let go to make room",
		"Use an id from the list of media, or stage the file again."},
	InvalidPattern: {"invalid-pattern", CodeRefused, "is not a valid pattern",
		"Mend the syntax, or ask for a literal match."},
	InvalidArguments: {"invalid-arguments", CodeRefused, "was called with arguments that do not fit its schema",
		"Mend the arguments and call again; nothing was done."},
	PatchMismatch: {"patch-mismatch", CodeRefused, "could not be patched",
		"Nothing was changed. Read the present content and make the patch from it, byte for byte."},
	ChangedOnDisk: {"changed-on-disk", CodeRefused, "is not the file that was staged any more: it was changed meanwhile",
		"Nothing was written. Stage it again and redo the edit, or save with overwrite set to replace what is there now."},
	TooLarge: {"too-large", CodeRefused, "is larger than what may be held in memory",
		"Nothing was done. Work on a smaller file, or save finished media to make room."},
	IOFailure: {"io-failure", CodeFailed, "could not be done: the file system failed",
		"Try once more; if it fails again, tell the user."},
	Aborted: {"aborted", CodeFailed, "was cancelled by the caller before it was done",
		"Call again if it is still wanted."},
	TimedOut: {"timed-out", CodeFailed, "was not done in time",
		"Ask for less at once, or call again with more time."},
	SessionClosed: {"session-closed", CodeNotInitialized, "belongs to a session that is closed",
		"Open it again in a new session; nothing can be read through this one."},
}

var reasonWords = [reasonEnd]struct{ label, said string }{
	ReasonNUL:         {"nul", "It holds a NUL byte. Leave it out."},
	ReasonTilde:       {"tilde", "It begins with ~, which is not expanded here. Start from the workspace root instead, or write ./~ for a name that begins so."},
	ReasonDriveLetter: {"drive-letter", "It begins with a drive letter. Write it from the workspace root, with slashes."},
	ReasonDevice:      {"device-path", "It begins like a device or verbatim path. Write it from the workspace root, with slashes."},
	ReasonUNC:         {"unc", "It begins like the name of a network share. Write it from the workspace root, with one slash or none."},
	ReasonEscapes:     {"escapes-root", "It leads out of the workspace, by .. or by a link. Name a place inside; / is the workspace root."},
}
