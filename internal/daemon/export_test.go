package daemon

// AwaitEnd exports awaitEnd to package daemon_test.
var AwaitEnd = awaitEnd
