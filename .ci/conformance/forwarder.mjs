// The suite cannot send a token or request anything but its own fixtures. The
// forwarder is a proxy between it and notesd that adds the token and makes the
// replacements in stand-ins.mjs; everything else passes unchanged, including Host
// and Origin.
import { createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";

import { standIn } from "./stand-ins.mjs";

// forward listens on its own port.
export async function forward(target, token) {
  const server = createServer((from, to) => {
    pass(from, to, target, token).catch(() => to.destroy());
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function pass(from, to, target, token) {
  let body = await buffer(from);
  const headers = { ...from.headers, authorization: `Bearer ${token}` };
  const message = parse(body);
  const changed = standIn(message);
  if (changed) {
    body = Buffer.from(JSON.stringify(changed));
    headers["content-length"] = body.length;
    for (const key of ["name", "uri"]) {
      if (headers["mcp-name"] !== undefined && headers["mcp-name"] === message.params[key]) {
        headers["mcp-name"] = changed.params[key];
      }
    }
  }
  const options = { host: "127.0.0.1", port: target, method: from.method, path: from.url, headers, setHost: false };
  const onward = request(options, (answer) => {
    to.writeHead(answer.statusCode, answer.rawHeaders);
    to.flushHeaders();
    answer.on("error", () => to.destroy());
    answer.pipe(to);
  });
  onward.on("error", () => to.destroy());
  to.on("close", () => onward.destroy());
  onward.end(body);
}

function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // some scenarios send garbage
  }
}
