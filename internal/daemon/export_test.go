package daemon

// AwaitEnd is for the tests of package daemon_test.
var AwaitEnd = awaitEnd
