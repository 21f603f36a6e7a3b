// The suite speaks HTTP only. The bridge lets it talk to a server over stdio: it
// gives each session a process of its own and passes messages on, one a line.
// Of HTTP it does what the suite's clients need and no more, so that what they
// see is what the process has written.
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

// bridge listens on a port of its own, and starts the command for each session.
// Requests of the protocol without sessions share a process, as they do in a
// host, but for those whose id is that of one in progress: several clients of
// the suite may each count from one.
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

// A Session is a process and the streams that show what it says.
class Session {
  id = randomUUID();
  calls = new Map(); // id of a request → the stream of its answer
  waiting = []; // what was said before there was a stream for it
  standing; // the stream of GET

  constructor(command, args) {
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.process.stdout }).on("line", (line) => this.hear(line));
  }

  // post writes a message to the process; a request's answer comes as an event.
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

  // hangUp cancels a request whose client does not wait for the answer.
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
