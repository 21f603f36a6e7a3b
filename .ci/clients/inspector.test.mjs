// The official inspector in command-line mode: a process for each step.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";

import { Bench, noteURI, program } from "./bench.mjs";

const inspector = join(import.meta.dirname, "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js");

describe("@modelcontextprotocol/inspector --cli", () => {
  let bench;
  before(() => {
    bench = new Bench();
    bench.index();
  });
  after(() => bench?.close());

  // inspect runs one method and returns its result.
  async function inspect(...args) {
    const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", program, ...bench.args(), ...args]);
    return JSON.parse(stdout);
  }

  test("tools/list", async () => {
    const { tools } = await inspect("--method", "tools/list");
    const names = tools.map((tool) => tool.name);
    for (const name of ["search_notes", "read_note", "list_notes", "create_note"]) {
      assert.ok(names.includes(name), `${name} is missing from ${names}`);
    }
  });

  test("tools/call search_notes", async () => {
    const result = await inspect("--method", "tools/call", "--tool-name", "search_notes", "--tool-arg", "query=how to steam bend oak ribs", "limit=2");
    assert.equal(result.structuredContent.results[0].path, "How-to/Steam-bend a Rib.md");
  });

  test("tools/call create_note", async () => {
    const result = await inspect("--method", "tools/call", "--tool-name", "create_note", "--tool-arg", "title=From the inspector", "content=Hello.");
    assert.ok(!result.isError, result.content[0].text);
    assert.deepEqual(bench.changed(), [result.structuredContent.path]);
  });

  test("resources/list", async () => {
    const { resources } = await inspect("--method", "resources/list");
    assert.ok(resources.some((resource) => resource.uri === noteURI("Home.md")));
  });

  test("resources/read", async () => {
    const { contents } = await inspect("--method", "resources/read", "--uri", noteURI("Projects/Tide Gauge.md"));
    assert.equal(contents[0].text, bench.read("Projects/Tide Gauge.md").toString());
  });

  test("prompts/get", async () => {
    const { messages } = await inspect("--method", "prompts/get", "--prompt-name", "summarize_notes");
    assert.match(messages[0].content.text, /summar/i);
  });
});
