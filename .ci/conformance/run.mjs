// Runs the protocol's conformance suite and its inspector against notesd.
//
// Every check that fails or warns must be listed in baseline.json with the reason,
// and every listed check must still fail: the list may only shrink.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { bridge } from "./bridge.mjs";
import { forward } from "./forwarder.mjs";
import { picture, promptFolder, prompts, scratch, vaults } from "./stand-ins.mjs";

const here = import.meta.dirname;
const root = resolve(here, "../..");
const program = resolve(process.env.PROGRAM ?? join(root, "notesd"));

// What is run: a release of the suite at a version of the protocol, over HTTP or
// over stdio, there through notesd mcp and its daemon. The extensions that the
// suite also knows belong to no version; notesd has none.
const runs = [
  { suite: "conformance-0.1", version: "2025-11-25", scenarios: 32, over: "HTTP" },
  { suite: "conformance-0.2", version: "2025-03-26", scenarios: 1, over: "HTTP" },
  { suite: "conformance-0.2", version: "2025-06-18", scenarios: 27, over: "HTTP" },
  { suite: "conformance-0.2", version: "2025-11-25", scenarios: 33, over: "HTTP" },
  { suite: "conformance-0.2", version: "2026-07-28", scenarios: 40, over: "HTTP" },
  { suite: "conformance-0.1", version: "2025-11-25", scenarios: 32, over: "stdio" },
  { suite: "conformance-0.2", version: "2025-06-18", scenarios: 27, over: "stdio" },
  { suite: "conformance-0.2", version: "2025-11-25", scenarios: 33, over: "stdio" },
  { suite: "conformance-0.2", version: "2026-07-28", scenarios: 40, over: "stdio" },
];

// Scenarios, and checks of others, that do not apply over stdio. Those about HTTP
// itself would test the bridge.
const notOverStdio = [
  /^(dns-rebinding-protection|server-session-lifecycle|server-sse-multiple-streams|server-sse-polling):/,
  /^(http-header-validation|http-custom-header-server-validation):/,
  /^server-stateless:sep-2575-http-/,
  // Which protocol is meant is told by a header there, and by _meta alone here:
  // without that it is the protocol with sessions.
  /^server-stateless:sep-2575-request-meta-invalid-missing-(meta|protocol-version)$/,
  // The fixture's tool changes the list of tools. notesd's list changes with the
  // program (over HTTP never, which the suite takes for an answer).
  /^server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription$/,
];

const dir = mkdtempSync(join(tmpdir(), "notesd-conformance-"));
const servers = [];
process.on("exit", () => {
  servers.forEach((server) => server.kill()); // whatever went wrong here
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

// A server is notesd with a vault of its own, and the forwarder or the bridge
// before it.
class Server {
  async start(name, over) {
    const at = (...parts) => join(dir, name, ...parts);
    const state = at("state");
    const vault = at("vault");
    cpSync(join(root, "examples", "vault"), vault, { recursive: true });
    mkdirSync(join(vault, "Scratch"));
    mkdirSync(join(vault, promptFolder));
    vaults.add(vault);
    scratch.forEach((note) => writeFileSync(join(vault, note.path), note.text));
    writeFileSync(join(vault, picture.path), Buffer.from(picture.base64, "base64"));
    Object.entries(prompts).forEach(([prompt, text]) => writeFileSync(join(vault, promptFolder, `${prompt}.md`), text));
    writeFileSync(at("config.toml"), `[prompts]\nfolder = "${promptFolder}"\n[semantic]\nprovider = "off"\n`);
    const options = ["--config", at("config.toml"), "--vault", vault, "--state", state];
    this.process = spawn(program, ["serve", ...options, "--http", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
    servers.push(this);
    const port = await this.port();
    if (over === "stdio") {
      this.front = await bridge(program, ["mcp", ...options]);
    } else {
      this.front = await forward(port, readFileSync(join(state, "http-token"), "utf8").trim());
    }
  }

  // port reads from the log where notesd listens.
  async port() {
    const lines = [];
    for await (const line of createInterface({ input: this.process.stderr })) {
      lines.push(line);
      const port = line.match(/url=http:\/\/127\.0\.0\.1:(\d+)\/mcp/)?.[1];
      if (port) {
        this.process.stderr.resume();
        return Number(port);
      }
    }
    throw new Error(`notesd serve has ended:\n${lines.join("\n")}`);
  }

  kill() {
    this.process.kill();
    this.front?.kill?.();
  }

  async stop() {
    await this.front.close();
    if (this.process.exitCode === null) {
      this.process.kill();
      const [status] = await once(this.process, "exit", { signal: AbortSignal.timeout(60_000) });
      assert.equal(status, 0, "notesd serve did not stop as it should");
    }
  }
}

// node runs a script and returns its status and output.
function node(...args) {
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd: dir, env: { ...process.env, HOME: dir }, maxBuffer: 64 << 20, timeout: 300_000 }, (error, stdout, stderr) =>
      done({ status: error ? (error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

// conformance runs the suite and returns its checks, each with its scenario.
async function conformance({ suite, version, scenarios, over }) {
  const name = `${suite}-${version}-${over}`;
  const server = new Server();
  await server.start(name, over);
  try {
    const out = join(dir, name, "results");
    const { stdout, stderr } = await node(
      join(here, "node_modules", suite, "dist", "index.js"),
      ...["server", "--url", server.front.url, "--suite", "all", "--spec-version", version, "-o", out],
    );
    const folders = existsSync(out) ? readdirSync(out) : [];
    assert.equal(folders.length, scenarios, `${name} ran other scenarios than it has:\n${stdout}${stderr}`);
    return folders.flatMap((folder) => {
      const scenario = folder.match(/^server-(.*)-\d{4}-\d\d-\d\dT/)[1];
      const checks = JSON.parse(readFileSync(join(out, folder, "checks.json"), "utf8"));
      const applying = checks.filter(({ id }) => over !== "stdio" || !notOverStdio.some((not) => not.test(`${scenario}:${id}`)));
      return applying.map((check) => ({ ...check, scenario, suite, run: name }));
    });
  } finally {
    await server.stop();
  }
}

// judge compares checks with the baseline and returns what is wrong.
function judge(checks, baseline) {
  const wrong = [];
  const excused = new Set();
  const passed = new Set();
  for (const check of checks) {
    const plain = `${check.scenario}:${check.id}`;
    const name = Object.hasOwn(baseline, `${check.suite}/${plain}`) ? `${check.suite}/${plain}` : plain;
    const bad = check.status === "FAILURE" || check.status === "WARNING";
    if (bad && Object.hasOwn(baseline, name)) {
      excused.add(name);
    } else if (bad) {
      wrong.push(`${check.run}: ${name}: ${check.status}: ${check.errorMessage ?? check.description}`);
    } else if (check.status === "SUCCESS") {
      passed.add(name);
    }
  }
  for (const name of Object.keys(baseline)) {
    if (!excused.has(name)) {
      wrong.push(`baseline.json: ${name} does not fail any more: remove it`);
    } else if (passed.has(name)) {
      wrong.push(`baseline.json: ${name} passes in some runs: it can pass in all`);
    }
  }
  return wrong;
}

// inspect lists the tools with the inspector, which must not find fault with
// any.
async function inspect(era) {
  const { status, stderr } = await node(
    join(here, "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"),
    ...["--strict", "--protocol-era", era, "--method", "tools/list", program, "mcp", "--in-process"],
    ...["--vault", join(root, "examples", "vault"), "--state", join(dir, `inspector-${era}`)],
  );
  const faults = stderr.split("\n").filter((line) => !/^(time=|$)/.test(line) && !/0 errors, 0 warnings/.test(line));
  return status === 0 && faults.length === 0 ? [] : [`inspector --strict, ${era} era, status ${status}:\n${faults.join("\n")}`];
}

const baseline = JSON.parse(readFileSync(join(here, "baseline.json"), "utf8"));
const checks = [];
for (const run of runs) {
  const found = await conformance(run);
  const count = (status) => found.filter((check) => check.status === status).length;
  const scenarios = new Set(found.map((check) => check.scenario)).size;
  console.log(`${run.suite} at ${run.version} over ${run.over}: ${scenarios} scenarios, ${count("SUCCESS")} checks pass, ${count("FAILURE")} fail, ${count("WARNING")} warn, ${count("SKIPPED")} do not apply`);
  checks.push(...found);
}
const wrong = [...judge(checks, baseline), ...(await inspect("legacy")), ...(await inspect("modern"))];
wrong.forEach((line) => console.error(line));
console.log(`${Object.keys(baseline).length} checks are excused in baseline.json; ${wrong.length} problems`);
process.exitCode = wrong.length ? 1 : 0;
