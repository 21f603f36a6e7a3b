// A client of the TypeScript SDK that makes a note for each line of its input, named by
// the line, in the vault at URL with the token TOKEN. A test of cmd/notesd runs it.
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "moves", version: "1.0.0" });
const headers = { Authorization: `Bearer ${process.env.TOKEN}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL), { requestInit: { headers } }));
for await (const path of createInterface({ input: process.stdin })) {
  const result = await client.callTool({ name: "create_note", arguments: { path, content: "text" } });
  console.log(result.isError ? result.content[0].text : "made " + path);
}
await client.close();
