// The suite supports only HTTP. The bridge connects it to a server over stdio: it
// starts a process for each session and forwards messages, one per line. It
// implements only as much of HTTP as the suite's clients need, so that they see
// exactly what the process writes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";

import { standIn } from "./stand-ins.mjs";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

// bridge listens on its own port and starts the command for each session. Requests
// of the protocol without sessions share a process, as in a host, except for those
// whose id is already in progress: several clients of the suite may each count
// from one.
export async function bridge(command, args) {
  const sessions = new Map();
  const shared = [];
  const server = createServer((from, to) => {
    serve(from, to).catch((error) => to.writeHead(500).end(String(error)));
  });

  async function serve(from, to) {
    const body = await buffer(from);
    let session = sessions.get(from.headers["mcp-session-id"]);
    if (from.method === "DELETE" && session) {
      sessions.delete(session.id);
      await session.end();
      to.writeHead(204).end();
    } else if (from.method === "GET" && session) {
      session.listen(to);
    } else if (from.method === "POST") {
      const message = JSON.parse(body);
      if (!session && message.method === "initialize") {
        session = new Session(command, args);
        sessions.set(session.id, session);
      }
      session ??= message.params?._meta?.[versionKey] && free(message);
      session ? session.post(message, to) : to.writeHead(404).end();
    } else {
      to.writeHead(session ? 405 : 404).end();
    }
  }

  // free returns a process without sessions that can take the message.
  function free(message) {
    let session = shared.find(({ calls }) => !calls.has(message.id));
    if (!session) {
      session = new Session(command, args);
      shared.push(session);
      sessions.set(session.id, session);
    }
    return session;
  }

  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    kill: () => sessions.forEach((session) => session.process.kill()),
    async close() {
      server.closeAllConnections();
      server.close();
      await Promise.all([...sessions.values()].map((session) => session.end()));
    },
  };
}

// A Session is a process and the streams that carry its output.
class Session {
  id = randomUUID();
  calls = new Map(); // id of a request → the stream of its answer
  waiting = []; // messages that arrived before their stream
  standing; // the stream of GET

  constructor(command, args) {
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.process.stdout }).on("line", (line) => this.hear(line));
  }

  // post writes a message to the process; the response to a request is sent as an event.
  post(message, to) {
    const isCall = message.method !== undefined && message.id !== undefined;
    if (isCall) {
      to.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": this.id });
      this.calls.set(message.id, to);
      to.on("close", () => this.hangUp(message.id));
    } else {
      to.writeHead(202).end();
    }
    this.process.stdin.write(JSON.stringify(standIn(message) ?? message) + "\n");
  }

  // hangUp cancels a request whose client no longer waits for the response.
  hangUp(id) {
    if (this.calls.delete(id) && this.process.exitCode === null) {
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
      this.process.stdin.write(JSON.stringify(cancelled) + "\n");
    }
  }

  listen(to) {
    to.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    this.standing = to;
    to.on("close", () => (this.standing = undefined));
    this.waiting.splice(0).forEach((line) => tell(to, line));
  }

  // hear passes on what the process has said: an answer to its request's stream,
  // what belongs to a subscription to that one's, and all else, which over stdio
  // belongs to no request, to one in progress or to the standing stream.
  hear(line) {
    const message = JSON.parse(line);
    const call = this.calls.get(message.id);
    if (message.method === undefined && call) {
      this.calls.delete(message.id);
      tell(call, line);
      call.end();
      return;
    }
    const subscription = message.params?._meta?.[subscriptionKey];
    const inProgress = subscription === undefined ? [...this.calls.values()].at(-1) : this.calls.get(subscription);
    const to = isListChange(message) ? (this.standing ?? inProgress) : (inProgress ?? this.standing);
    to ? tell(to, line) : this.waiting.push(line);
  }

  // end closes the process's input, after which it must end by itself.
  async end() {
    if (this.process.exitCode !== null) {
      return;
    }
    this.process.stdin.end();
    const [status] = await once(this.process, "exit", { signal: AbortSignal.timeout(60_000) });
    assert.equal(status, 0, "notesd mcp did not end as it should");
  }
}

function isListChange(message) {
  return /\/(list_changed|updated)$/.test(message.method ?? "");
}

function tell(to, line) {
  to.write(`event: message\ndata: ${line}\n\n`);
}
