// The two generations of the TypeScript client, through the same steps.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";

import { Bench, noteURI, program } from "./bench.mjs";

const who = { name: "notesd-client-checks", version: "1.0.0" };

const generations = [
  { name: "@modelcontextprotocol/sdk 1.x", connect: (server) => connect(new ClientV1(who), new StdioV1(server)) },
  { name: "@modelcontextprotocol/client 2.x", connect: (server) => connect(new ClientV2(who), new StdioV2(server)) },
  {
    name: "@modelcontextprotocol/client 2.x, the protocol of 2026-07-28",
    era: "modern",
    connect: (server) => connect(new ClientV2(who, { versionNegotiation: { mode: "auto" } }), new StdioV2(server)),
  },
];

async function connect(client, transport) {
  await client.connect(transport);
  return client;
}

for (const generation of generations) {
  describe(generation.name, () => {
    let bench;
    let client;

    before(async () => {
      bench = new Bench();
      bench.index();
      client = await generation.connect({ command: program, args: bench.args(), stderr: "inherit" });
    });
    after(async () => {
      await client?.close();
      bench?.close();
    });

    // call returns the structured result of a tool that must succeed.
    async function call(name, args) {
      const result = await client.callTool({ name, arguments: args });
      assert.ok(!result.isError, `${name}: ${result.content[0]?.text}`);
      assert.equal(result.content[0].type, "text");
      assert.notEqual(result.content[0].text, "");
      return result.structuredContent;
    }

    test("introduces itself", () => {
      assert.equal(client.getProtocolEra?.() ?? "legacy", generation.era ?? "legacy");
      assert.equal(client.getServerVersion().name, "notesd");
      assert.ok(client.getServerCapabilities().tools);
      assert.ok(client.getServerCapabilities().resources);
      assert.ok(client.getServerCapabilities().prompts);
    });

    test("lists tools that a host can show", async () => {
      const { tools } = await client.listTools();
      const names = tools.map((tool) => tool.name);
      for (const name of ["search_notes", "read_note", "list_notes", "create_note"]) {
        assert.ok(names.includes(name), `${name} is missing from ${names}`);
      }
      for (const tool of tools) {
        assert.ok(tool.title, `${tool.name} has no title`);
        assert.ok(tool.description, `${tool.name} has no description`);
        assert.equal(typeof tool.annotations?.readOnlyHint, "boolean", `${tool.name} does not say whether it writes`);
        assert.equal(tool.inputSchema.type, "object");
      }
    });

    test("finds a note by words", async () => {
      const { results, total } = await call("search_notes", { query: "sourdough starter", limit: 3 });
      assert.equal(results[0].path, "Recipes/Sourdough Starter.md");
      assert.equal(results[0].uri, noteURI("Recipes/Sourdough Starter.md"));
      assert.ok(results.length <= 3 && total >= results.length);
      assert.match(results[0].snippet, /starter/i);
    });

    test("finds what was written in other scripts", async () => {
      for (const [query, path] of [
        ["潮の満ち引き", "Languages/日本語ノート.md"],
        ["茶叶", "Languages/泡茶笔记.md"],
        ["กะทิ", "Recipes/แกงเขียวหวาน.md"],
        ["العدس", "Recipes/شوربة العدس.md"],
        ["грибы", "Recipes/Солёные грузди.md"],
        ["poireaux", "Recipes/Tarte aux poireaux.md"],
      ]) {
        const { results } = await call("search_notes", { query });
        assert.equal(results[0]?.path, path, query);
      }
    });

    test("reads a note byte for byte", async () => {
      const path = "Lab/Windows Line Ends.md";
      const note = await call("read_note", { note: path });
      assert.equal(note.content, bench.read(path).toString());
      assert.equal(note.hash, bench.hash(path));
    });

    test("reads a note by its bare name and by its alias", async () => {
      assert.equal((await call("read_note", { note: "Rye Bread" })).path, "Recipes/Rye Bread.md");
      assert.equal((await call("read_note", { note: "Hermann" })).path, "Recipes/Sourdough Starter.md");
    });

    test("lists a folder", async () => {
      const { notes, total } = await call("list_notes", { folder: "Recipes", limit: 50 });
      const want = bench.files().filter((path) => path.startsWith("Recipes/") && path.endsWith(".md"));
      assert.equal(total, want.length);
      assert.deepEqual(notes.map((note) => note.path).sort(), want.sort());
    });

    test("creates a note, which the next search finds", async () => {
      const made = await call("create_note", { title: "Quince: jelly / jam?", content: "Membrillo sets at once.\n", folder: "Recipes" });
      assert.match(made.path, /^Recipes\/.+\.md$/);
      assert.equal(made.hash, bench.hash(made.path));
      assert.match(bench.read(made.path).toString(), /Membrillo sets at once\.\n/);
      const { results } = await call("search_notes", { query: "membrillo" });
      assert.equal(results[0].path, made.path);

      const again = await client.callTool({ name: "create_note", arguments: { path: made.path, title: "Other", content: "other" } });
      assert.equal(again.isError, true, "an existing note was replaced");
      assert.ok(again.content[0].text.includes(made.path));
      assert.equal(bench.hash(made.path), made.hash);
      assert.deepEqual(bench.changed(), [made.path], "files that nobody asked to change");
    });

    test("offers every note as a resource", async () => {
      const listed = new Set();
      let cursor;
      do {
        const page = await client.listResources(cursor ? { cursor } : {});
        page.resources.forEach((resource) => listed.add(decodeURIComponent(resource.uri)));
        cursor = page.nextCursor;
      } while (cursor);
      for (const path of bench.files().filter((file) => file.endsWith(".md"))) {
        assert.ok(listed.has(`note:///${path}`), `${path} is missing`);
      }
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.ok(resourceTemplates.some((template) => template.uriTemplate === "note:///{+path}"));
    });

    test("reads a resource", async () => {
      const uri = noteURI("Languages/日本語ノート.md");
      const { contents } = await client.readResource({ uri });
      assert.equal(contents[0].uri, uri);
      assert.equal(contents[0].mimeType, "text/markdown");
      assert.equal(contents[0].text, bench.read("Languages/日本語ノート.md").toString());
      await assert.rejects(client.readResource({ uri: "note:///Nowhere.md" }));
    });

    test("gets the prompt that summarizes the notes", async () => {
      const { prompts } = await client.listPrompts();
      assert.ok(prompts.some((prompt) => prompt.name === "summarize_notes"));
      const { messages } = await client.getPrompt({ name: "summarize_notes" });
      assert.equal(messages[0].content.type, "text");
      assert.match(messages[0].content.text, /summar/i);
      const embedded = messages.filter((message) => message.content.type === "resource");
      assert.ok(embedded.length > 10, `${embedded.length} notes embedded`);
      assert.ok(embedded.every((message) => message.content.resource.uri.startsWith("note:///")));
    });

    test("answers a mistake and goes on", async () => {
      await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /no_such_tool/);
      const noQuery = await client.callTool({ name: "search_notes", arguments: {} });
      assert.equal(noQuery.isError, true);
      assert.match(noQuery.content[0].text, /query/);
      const missing = await client.callTool({ name: "read_note", arguments: { note: "Rye Bred" } });
      assert.equal(missing.isError, true);
      assert.ok(!missing.content[0].text.includes(bench.dir), "the answer shows a path of this machine");
      await call("list_notes", {});
    });
  });
}
