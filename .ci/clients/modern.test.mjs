// The protocol of 2026-07-28 over stdio as hosts use it: through the relay and a
// daemon, covering what the other checks omit.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { Bench, noteURI, program } from "./bench.mjs";

const version = "2026-07-28";

// Waiting queues messages until they are requested, and requests until a message arrives.
class Waiting {
  #come = [];
  #asking = [];

  give(value) {
    const ask = this.#asking.shift();
    ask ? ask(value) : this.#come.push(value);
  }

  next() {
    if (this.#come.length > 0) {
      return this.#come.shift();
    }
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("nothing has come for a minute")), 60_000);
      this.#asking.push((value) => {
        clearTimeout(late);
        resolve(value);
      });
    });
  }
}

describe(`@modelcontextprotocol/client, ${version}, through the daemon`, () => {
  let bench;
  let daemon;
  let client;
  const updated = new Waiting();
  const listed = new Waiting();

  before(async () => {
    bench = new Bench();
    bench.index();
    daemon = spawn(program, bench.args("serve"), { stdio: "ignore" });
    while (!JSON.parse(execFileSync(program, [...bench.args("status"), "--json"])).daemon.running) {
      assert.equal(daemon.exitCode, null, "notesd serve has ended");
      await pause(20);
    }
    client = new Client({ name: "notesd-client-checks", version: "1.0.0" }, { versionNegotiation: { mode: { pin: version } } });
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => updated.give(params));
    client.setNotificationHandler("notifications/resources/list_changed", ({ params }) => listed.give(params));
    const relay = bench.args().filter((arg) => arg !== "--in-process");
    await client.connect(new StdioClientTransport({ command: program, args: relay, stderr: "inherit" }));
  });
  after(async () => {
    await client?.close();
    assert.equal(daemon.exitCode ?? daemon.signalCode, null, "the daemon has died");
    daemon.kill();
    await once(daemon, "exit");
    bench.close();
  });

  test("server/discover", async () => {
    assert.equal(client.getProtocolEra(), "modern");
    const found = await client.discover();
    assert.ok(found.supportedVersions.includes(version));
    assert.match(found.instructions, /search_notes/);
  });

  test("tools/list and tools/call", async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.length > 10);
    const found = await client.callTool({ name: "search_notes", arguments: { query: "sourdough starter" } });
    assert.equal(found.structuredContent.results[0].path, "Recipes/Sourdough Starter.md");
    const failed = await client.callTool({ name: "read_note", arguments: { note: "No such note" } });
    assert.equal(failed.isError, true);
  });

  test("resources/list, templates and read", async () => {
    const { resources } = await client.listResources();
    assert.ok(resources.some(({ uri }) => uri === noteURI("Home.md")));
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.length >= 3);
    const { contents } = await client.readResource({ uri: noteURI("Home.md") });
    assert.equal(contents[0].text, bench.read("Home.md").toString());
    await assert.rejects(client.readResource({ uri: "note:///Nowhere.md" }), { code: -32602 });
  });

  test("prompts/list and get", async () => {
    const { prompts } = await client.listPrompts();
    assert.ok(prompts.some(({ name }) => name === "summarize_note"));
    const { messages } = await client.getPrompt({ name: "summarize_note", arguments: { note: "Rye Bread" } });
    assert.ok(messages.some(({ content }) => content.type === "resource" && content.resource.uri.startsWith(noteURI("Recipes/Rye Bread.md") + "?rev=")));
  });

  test("completion/complete", async () => {
    const ref = { type: "ref/prompt", name: "summarize_note" };
    const notes = await client.complete({ ref, argument: { name: "note", value: "rye" } });
    assert.deepEqual(notes.completion.values.slice(0, 1), ["Recipes/Rye Bread.md"]);
    const context = { arguments: { note: "Recipes/Sourdough Starter.md" } };
    const headings = await client.complete({ ref, argument: { name: "heading", value: "feed" }, context });
    assert.deepEqual(headings.completion.values, ["Sourdough Starter > Feeding"]);
    const uri = "note:///{+path}";
    const paths = await client.complete({ ref: { type: "ref/resource", uri }, argument: { name: "path", value: "home" } });
    assert.ok(paths.completion.values.includes("Home.md"));
  });

  test("subscriptions/listen: what changes is told until it is closed", async () => {
    const uri = noteURI("Home.md");
    const one = await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri, "note:///no such picture.png"] });
    assert.deepEqual(one.honoredFilter, { resourcesListChanged: true, resourceSubscriptions: [uri] });
    const other = await client.listen({ resourceSubscriptions: [noteURI("Recipes/Rye Bread.md")] });

    writeFileSync(join(bench.vault, "Home.md"), "# Home\n\nRewritten.\n");
    assert.equal((await updated.next()).uri, uri);
    writeFileSync(join(bench.vault, "Brand New.md"), "# New\n");
    await listed.next();

    await one.close();
    assert.equal(await one.closed, "local");
    writeFileSync(join(bench.vault, "Home.md"), "# Home\n\nAgain.\n");
    await pause(300); // longer than an update takes
    writeFileSync(join(bench.vault, "Recipes/Rye Bread.md"), "# Rye\n");
    assert.equal((await updated.next()).uri, noteURI("Recipes/Rye Bread.md"), "nothing is told to the listen that was closed");
    await other.close();
  });

  test("a listen of which nothing would be told is refused", async () => {
    await assert.rejects(client.listen({ resourceSubscriptions: ["note:///no such picture.png"] }), /no note links to an attachment/);
  });

  test("cancellation: the request ends and the connection goes on", async () => {
    const stop = new AbortController();
    const cancelled = client.callTool({ name: "vault_overview", arguments: {} }, { signal: stop.signal });
    stop.abort("no longer needed");
    await assert.rejects(cancelled, /no longer needed/);
    const { structuredContent } = await client.callTool({ name: "vault_overview", arguments: {} });
    assert.ok(structuredContent.notes > 50);
  });
});
