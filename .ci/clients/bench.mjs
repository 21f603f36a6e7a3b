// The fixture of every check: a copy of the example vault, a state directory and
// the program, all in one temporary folder that is removed afterwards.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";

const root = resolve(import.meta.dirname, "../..");

// The program, as .ci/run has built it.
export const program = process.env.PROGRAM ?? join(root, "notesd");

export class Bench {
  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), "notesd-clients-"));
    this.vault = join(this.dir, "My Notes"); // with a space, as users may have
    this.state = join(this.dir, "state");
    cpSync(join(root, "examples", "vault"), this.vault, { recursive: true });
    this.before = this.hashes();
  }

  // args starts notesd as a host does.
  args(command = "mcp") {
    const args = [command, "--vault", this.vault, "--state", this.state];
    return command === "mcp" ? [...args, "--in-process"] : args;
  }

  // index waits until everything in the vault is searchable, including semantically.
  index() {
    execFileSync(program, [...this.args("index"), "--wait"], { stdio: ["ignore", "ignore", "inherit"] });
  }

  // files lists the vault's files, relative and with "/".
  files() {
    return readdirSync(this.vault, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.vault, join(entry.parentPath ?? entry.path, entry.name)).split(sep).join("/"));
  }

  read(path) {
    return readFileSync(join(this.vault, path));
  }

  hash(path) {
    return createHash("sha256").update(this.read(path)).digest("hex");
  }

  hashes() {
    return new Map(this.files().map((path) => [path, this.hash(path)]));
  }

  // changed lists the files that differ from the vault as it was copied.
  changed() {
    const after = this.hashes();
    return [...new Set([...this.before.keys(), ...after.keys()])]
      .filter((path) => this.before.get(path) !== after.get(path))
      .sort();
  }

  close() {
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

// noteURI names a note as a resource.
export function noteURI(path) {
  return "note:///" + path.split("/").map(encodeURIComponent).join("/");
}
