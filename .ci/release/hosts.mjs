// Checks a release's files for hosts and catalogues with their own validators, and
// launches the programs as they do. It prints a Markdown table row for each:
//
//   DIST=dist node hosts.mjs
//
// SCHEMA is the file with the MCP registry's JSON schema. CHROOT=1, as root on Linux, also
// runs the program in the container images, using qemu-user-static for the other architecture.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const require = createRequire(import.meta.url);
const dist = process.env.DIST;
const root = path.resolve(import.meta.dirname, '../..');
const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'notesd hosts ')); // with a space, as users may have
const home = path.join(tmp, 'home');
const vault = path.join(tmp, 'My Notes');
fs.mkdirSync(home);
fs.cpSync(path.join(root, 'examples/vault'), vault, { recursive: true });
// Excludes the developer's own settings; this release's program comes first in PATH.
const env = {
	HOME: home, XDG_STATE_HOME: path.join(tmp, 'state'), XDG_CONFIG_HOME: path.join(tmp, 'config'),
	PATH: path.join(tmp, 'bin') + path.delimiter + process.env.PATH,
};
const bin = name => path.join(import.meta.dirname, 'node_modules/.bin', name);
const files = fs.readdirSync(dist);
const target = `${{ win32: 'windows' }[process.platform] ?? process.platform}_${{ x64: 'amd64' }[process.arch] ?? process.arch}`;

const run = (command, args, options = {}) =>
	execFileSync(command, args, { env, cwd: home, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'], timeout: 120_000, ...options });
const size = file => {
	const bytes = fs.statSync(file).size;
	return bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} KB` : `${Math.round(bytes / 1e6)} MB`;
};
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);

// search finds a note by its words, as soon as it is indexed.
async function search(client) {
	const call = { name: 'search_notes', arguments: { query: 'feeding a sourdough starter', mode: 'text' } };
	for (let tries = 0; ; tries++) {
		const { structuredContent } = await client.callTool(call);
		if (structuredContent.results.some(r => r.path === 'Recipes/Sourdough Starter.md')) return;
		assert(tries < 300, JSON.stringify(structuredContent));
		await new Promise(done => setTimeout(done, 200));
	}
}

// converse launches a server and returns its tools and what a search finds.
async function converse(launch) {
	const client = new Client({ name: 'checks', version: '1' });
	await client.connect(new StdioClientTransport({ stderr: 'ignore', ...launch, env: { ...env, ...launch.env } }));
	try {
		const { tools } = await client.listTools();
		await search(client);
		return tools;
	} finally {
		await client.close();
	}
}

const stop = () => run(path.join(tmp, 'bin/notesd'), ['stop', '--vault', vault]);

async function bundles() {
	for (const name of files.filter(f => f.endsWith('.mcpb'))) {
		const dir = path.join(tmp, 'extensions', name);
		run(bin('mcpb'), ['unpack', path.join(dist, name), dir]);
		run(bin('mcpb'), ['validate', path.join(dir, 'manifest.json')]);
		if (!name.includes(target)) {
			row(name, size(path.join(dist, name)), 'mcpb validate: valid', 'for another machine');
			continue;
		}
		const manifest = JSON.parse(fs.readFileSync(path.join(dir, 'manifest.json')));
		const given = userConfig => getMcpConfigForManifest({
			manifest, extensionPath: dir, systemDirs: { HOME: home }, userConfig, pathSeparator: path.sep, logger: console,
		});
		assert.equal(await given({}), undefined, 'without a folder it is not launched');
		const names = async config => (await converse(await given(config))).map(t => t.name);
		fs.mkdirSync(path.join(tmp, 'bin'));
		fs.symlinkSync(path.join(dir, 'server/notesd'), path.join(tmp, 'bin/notesd'));
		assert.deepEqual(await names({ vault }), manifest.tools.map(t => t.name), 'the manifest lists the tools');
		const reading = await names({ vault, read_only: true });
		assert(reading.includes('search_notes') && !reading.includes('create_note'), 'read-only reaches the program');
		row(name, size(path.join(dist, name)), 'mcpb validate: valid', 'launched with a folder and read-only; searched');
	}
}

function descriptions() {
	const Ajv = require('ajv').default;
	const ajv = require('ajv-formats').default(new Ajv({ strict: false }));
	const schema = JSON.parse(fs.readFileSync(process.env.SCHEMA));
	const server = JSON.parse(fs.readFileSync(path.join(dist, 'server.json')));
	assert.equal(server.$schema, schema.$id);
	assert(ajv.validate(schema, server), ajv.errorsText());
	row('server.json', size(path.join(dist, 'server.json')), 'JSON schema of the MCP registry: valid', 'names the bundles above');
}

// scoop compares the manifest with what Scoop's schema permits and with the archives.
function scoop() {
	if (!files.includes('scoop')) return;
	const manifest = JSON.parse(fs.readFileSync(path.join(dist, 'scoop/notesd.json')));
	const known = ['version', 'description', 'homepage', 'license', 'architecture', 'bin', 'notes'];
	assert.deepEqual(Object.keys(manifest).sort(), known.sort(), 'fields of the schema, the required ones among them');
	assert.match(manifest.version, /^[\w.\-+_]+$/);
	assert.deepEqual(Object.keys(manifest.architecture), ['64bit', 'arm64']);
	for (const { url, hash, extract_dir, ...more } of Object.values(manifest.architecture)) {
		assert.deepEqual(more, {});
		const archive = path.join(dist, path.basename(new URL(url).pathname));
		assert.equal(createHash('sha256').update(fs.readFileSync(archive)).digest('hex'), hash);
		assert(run('bsdtar', ['-tf', archive]).split('\n').includes(`${extract_dir}/${manifest.bin}`));
	}
	row('scoop/notesd.json', size(path.join(dist, 'scoop/notesd.json')), "the fields of Scoop's schema", 'the archives have its checksums and program');
}

async function materials() {
	const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
	for (const name of files.filter(f => f.endsWith('.cdx.json'))) {
		const text = fs.readFileSync(path.join(dist, name), 'utf8');
		assert.equal(await validator.validate(text), null);
		row(name, size(path.join(dist, name)), 'CycloneDX 1.6: valid', `${JSON.parse(text).components.length} components`);
	}
}

function claude() {
	// The launcher of the package needs a script of npm's that is not run here.
	const claude = path.join(import.meta.dirname, `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`);
	const plugin = path.join(root, 'plugin');
	run(claude, ['plugin', 'validate', '--strict', plugin]);
	run(claude, ['plugin', 'marketplace', 'add', plugin]);
	run(claude, ['plugin', 'install', 'notesd@notesd', '--config', `vault=${vault}`, '--config', 'read_only=true']);
	const list = run(claude, ['mcp', 'list']);
	assert.match(list, /notesd:notes: notesd mcp --vault .*My Notes --read-only=true.*Connected/);
	run(claude, ['plugin', 'uninstall', 'notesd@notesd']);
	assert.doesNotMatch(run(claude, ['mcp', 'list']), /notesd mcp/);
	row('plugin (Claude Code)', '', 'claude plugin validate --strict: valid', 'installed by Claude Code, connected, removed');
}

function gemini() {
	const extension = path.join(root, 'plugin');
	run(bin('gemini'), ['extensions', 'validate', extension]);
	run(bin('gemini'), ['extensions', 'install', '--consent', '--skip-settings', extension], { input: 'y\n' });
	const list = execFileSync('sh', ['-c', `"${bin('gemini')}" mcp list 2>&1`],
		{ env: { ...env, NOTESD_VAULT: vault, NOTESD_VAULT_READ_ONLY: 'true' }, cwd: home, encoding: 'utf8' });
	assert.match(list, /notes \(from notesd\): notesd mcp .*Connected/);
	run(bin('gemini'), ['extensions', 'uninstall', 'notesd']);
	row('plugin (Gemini CLI)', '', 'gemini extensions validate: valid', 'installed by Gemini CLI, connected, removed');
}

// image runs the files of the container image as its user, with the settings of its
// configuration, where a container's runtime is missing.
async function image() {
	const archive = files.find(f => f.endsWith('_oci.tar'));
	const dir = path.join(tmp, 'image');
	fs.mkdirSync(dir);
	run('tar', ['-xf', path.join(dist, archive), '-C', dir]);
	const blob = digest => path.join(dir, 'blobs', digest.replace(':', '/'));
	const read = digest => JSON.parse(fs.readFileSync(blob(digest)));
	const tools = JSON.parse(fs.readFileSync(path.join(dist, 'docker/tools.json')));
	const dockerfile = fs.readFileSync(path.join(root, 'Dockerfile'), 'utf8').replaceAll('", "', '","');
	for (const { digest, platform } of read(JSON.parse(fs.readFileSync(path.join(dir, 'index.json'))).manifests[0].digest).manifests) {
		const root = path.join(dir, platform.architecture);
		fs.mkdirSync(root);
		const manifest = read(digest);
		const { config } = read(manifest.config.digest);
		for (const layer of manifest.layers) run('tar', ['-xzf', blob(layer.digest), '-C', root]);
		const instructions = [`USER ${config.User}`, `ENV ${config.Env.join(' ')}`, `VOLUME ${JSON.stringify(Object.keys(config.Volumes).reverse())}`,
			`CMD ${JSON.stringify(config.Healthcheck.Test.slice(1))}`, `ENTRYPOINT ${JSON.stringify(config.Entrypoint)}`, `CMD ${JSON.stringify(config.Cmd)}`];
		for (const line of instructions) assert(dockerfile.includes(line), `Dockerfile lacks ${line}`);
		const emulator = `/usr/bin/qemu-${{ amd64: 'x86_64', arm64: 'aarch64' }[platform.architecture]}-static`;
		const own = target === `${platform.os}_${platform.architecture}`;
		let smoke = 'not run: chroot needs root';
		if (process.env.CHROOT && !own && !fs.existsSync(emulator)) smoke = `not run: ${emulator} is missing`;
		else if (process.env.CHROOT) {
			fs.cpSync(vault, path.join(root, 'vault'), { recursive: true });
			run('chown', ['-R', config.User, path.join(root, 'vault')]);
			if (!own) fs.copyFileSync(emulator, path.join(root, 'emulator'));
			const timeZone = new Date().getUTCHours() < 11 ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati'; // UTC-11 or UTC+14: another day than UTC's
			const inside = ([program, ...args]) => ['env', '-i', `TZ=${timeZone}`, ...config.Env, '/usr/sbin/chroot', `--userspec=${config.User}`, root,
				...(own ? [program] : ['/emulator', `/usr/bin/${program}`]), ...args];
			const [command, ...args] = inside([...config.Entrypoint, ...config.Cmd]);
			const client = new Client({ name: 'checks', version: '1' });
			await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore', env: { PATH: process.env.PATH } }));
			const listed = (await client.listTools()).tools.map(t => t.name);
			assert.deepEqual(listed, tools.map(t => t.name), 'tools.json lists the tools');
			await search(client);
			const { structuredContent: daily } = await client.callTool({ name: 'create_note', arguments: { title: 'today', content: 'x' } });
			assert.equal(path.basename(daily.path, '.md'), new Intl.DateTimeFormat('en-CA', { timeZone }).format(), 'TZ is obeyed');
			const [health, ...rest] = inside(config.Healthcheck.Test.slice(1));
			assert.match(run(health, rest, { env: { PATH: process.env.PATH } }), /daemon +process/);
			await client.close();
			const kept = fs.readdirSync(path.join(root, 'state/notesd'), { recursive: true, withFileTypes: true });
			assert(kept.some(f => f.name === 'history.db'), 'the volume keeps the history');
			for (const f of kept) assert.equal(fs.lstatSync(path.join(f.parentPath, f.name)).uid, 65532);
			smoke = `searched as user 65532${own ? '' : ', emulated'}; healthy; its state is in its volume; its tools are those of docker/tools.json`;
		}
		row(`${archive}, ${platform.architecture}`, size(path.join(dist, archive)), 'OCI layout: user, volumes, health check', smoke);
		fs.rmSync(root, { recursive: true });
	}
}

try {
	await bundles();
	descriptions();
	scoop();
	await materials();
	claude();
	gemini();
	if (process.platform === 'linux') await image();
} finally {
	if (fs.existsSync(path.join(tmp, 'bin/notesd'))) stop();
	fs.rmSync(tmp, { recursive: true, force: true });
}
