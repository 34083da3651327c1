/**
 * README.md and the guides in docs/: every command runs, shown output is real, snippets match their
 * schemas, and links are valid.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { parse as parseYaml } from 'yaml';
import { allRequirementIds } from '../../conformance/index.ts';
import { killable } from '../../conformance/proof/selftest.ts';
import { startAgent } from '../../reference-agent/index.ts';
import { findViolations, type CheckReport, type MessageName } from '../../src/contract/index.ts';
import * as library from '../../library/index.ts';
import { startService } from '../../src/service/index.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import { run, runInBackground } from '../support/commands/command.ts';
import {
  adaptations,
  loadCodes,
  shortLoad,
  type Adaptation,
} from '../support/documentation/documented-commands.ts';
import { generateKeyPair } from '../support/network/certificates.ts';
import { ROOT } from '../support/repository.ts';
import { makeTraceRequest, makeSpan } from '../support/traces/otlp.ts';

const CONCURRENCY = 4;
const generatedPages = ['cli.md', 'requirements.md'];
const guides = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md') && !generatedPages.includes(name))
  .map((name) => join('docs', name));
const pages = ['README.md', ...guides].map((path) => ({ path, text: readPage(path) }));

interface Block {
  page: string;
  /** Text after the opening fence, such as `yaml scenario`; `indented` without a fence. */
  kind: string;
  text: string;
}

interface Command {
  page: string;
  words: string[];
  /** The `text` blocks that directly follow the command. */
  outputs: string[];
}

const blocks = pages.flatMap(({ path, text }) => readBlocks(path, text));
const commands = blocks.flatMap(readCommands);

void t.test('a page that names the installed program also names that of a clone', (t) => {
  const naming = pages.filter(({ text }) => text.includes('node_modules/.bin/sandbox-kit'));
  t.ok(naming.length > 0);
  for (const { path, text } of naming) t.match(text, /bin\/sandbox-kit\.js/, path);
  t.ok(existsSync(join(ROOT, 'bin/sandbox-kit.js')));
  t.end();
});

void t.test('every command in the documentation runs', async (t) => {
  const agent = await startAgent();
  const agentForCurl = await startAgent();
  const service = await startService();
  t.teardown(() => Promise.all([agent.stop(), agentForCurl.stop(), service.stop()]));
  const faulty = await runInBackground(t, ['agent', '--mutant', 'chat/content-null', '--json']);
  const faultyUrl = (JSON.parse(faulty.firstLine) as { url: string }).url;
  const env = {
    CI_RUN_ID: 'build-7',
    SANDBOX_KIT_SERVICE_API_KEY: service.apiKey,
    SANDBOX_KIT_SERVICE_URL: service.url,
    SANDBOX_KIT_ADMIN_URL: service.adminUrl,
  };
  await sendConversation(service);

  const { cert, key } = await generateKeyPair('client');
  const fixtures = t.testdir({
    ...documentedFiles(),
    'headers.txt': 'X-Tenant: acme\n',
    'client.pem': cert,
    'client.key': key,
  });
  const prepare = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await run(args, { cwd: fixtures });
    t.ok(loadCodes.includes(code ?? -1), `${args.join(' ')}: ${stderr}`);
  };
  const startAt = ['--start-at', isoTime(systemClock.nowMs() + 10_000)];
  const shardFiles = [
    ['1/2', 'a.json'],
    ['2/2', 'b.json'],
  ] as const;
  await Promise.all([
    prepare('check', agent.url, '--area', 'health', '--json', 'out.json', '--record', 'run.ndjson'),
    prepare('load', agent.url, ...shortLoad, '--json', 'load.json'),
    prepare('simulate', agent.url, '--scenario', 'opening-hours', '--json', 'simulate.json'),
    ...shardFiles.map(([shard, path]) =>
      prepare('load', agent.url, ...shortLoad, '--shard', shard, ...startAt, '--json', path),
    ),
  ]);

  cpSync(join(fixtures, 'out.json'), join(fixtures, 'check.json'));

  const failed = await run(['check', faultyUrl, '--area', 'chat', '--json', 'report.json'], {
    cwd: fixtures,
  });
  t.equal(failed.code, 1, failed.stderr);
  const fullRequest = findExchange(join(fixtures, 'report.json'), 'full');

  for (const { page, text } of curlCommands()) {
    const script = text
      .replaceAll('http://127.0.0.1:8080', agentForCurl.url)
      .replaceAll('http://127.0.0.1:9090', service.url);
    const status = await runCurl(script, env);
    t.equal(status, text.includes('unhealthy') ? '503' : '200', `${page}: ${text}`);
  }

  let count = 0;
  const runOne = async (command: Command): Promise<void> => {
    const line = command.words.join(' ');
    const [name = ''] = command.words;
    const adaptation = adaptations.find((entry) => entry.command.test(line));
    const url = adaptation?.isFaulty
      ? faultyUrl
      : adaptation?.isUnreachable
        ? 'http://127.0.0.1:1'
        : agent.url;
    const words = adapt(command.words, adaptation).map((word) =>
      word
        .replace(/^(URL|https?:\/\/(sandbox\.example\.com|127\.0\.0\.1:8080|sandbox:8080))$/, url)
        .replace(/^https:\/\/service\.example\.com$|^http:\/\/127\.0\.0\.1:9090$/, service.url)
        .replace(/^wss:\/\/calls\.example\.com\/voice$/, agent.voiceUrl ?? '')
        .replace(/^\d+$/, (number) => (adaptation?.isFullRequest ? fullRequest : number))
        .replace(/^\$(\w+)$/, (_, variable: string) => env[variable as keyof typeof env]),
    );
    const cwd = join(fixtures, `run-${String(count++)}`);
    mkdirSync(cwd);
    for (const file of readdirSync(fixtures).filter((file) => !file.startsWith('run-'))) {
      cpSync(join(fixtures, file), join(cwd, file), { recursive: true });
    }
    const earlier = join(fixtures, `${name}.json`);
    if (existsSync(earlier)) cpSync(earlier, join(cwd, 'earlier.json'));
    if (name === 'agent' || name === 'serve') await runServer(t, command, words, cwd);
    else {
      if (name === 'scenario') words.push('--service', service.url);
      if (name === 'exec')
        words.splice(words.indexOf('--') + 1, Infinity, process.execPath, '-e', '');
      const { code, stdout, stderr } = await run(words, { cwd, env });
      const codes = adaptation?.codes ?? [0];
      t.ok(codes.includes(code ?? -1), `${command.page}: ${line}: exits with ${String(code)}`, {
        stdout,
        stderr,
      });
      if (!adaptation?.hasOtherOutput) assertShownOutput(t, command, stdout + stderr);
    }
  };
  const queue = distinct(commands);
  t.ok(queue.length > 40, `${String(queue.length)} commands`);
  // Calls take as long as their speech: they start first.
  queue.sort((a, b) => Number(b.words.includes('--voice')) - Number(a.words.includes('--voice')));
  const runQueue = async (): Promise<void> => {
    for (let command = queue.shift(); command; command = queue.shift()) await runOne(command);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runQueue));
});

void t.test('the guide to the selftest counts the requirements of the kit', (t) => {
  const text = readPage('docs/trust.md');
  const [, shown = ''] = /^(\d+) requirements have no mutant in this run$/m.exec(text) ?? [];
  const caught = text.match(/^ {2}[A-Z]+-\d{3} {5}[a-z]+\//gm) ?? [];
  t.ok(caught.length > 0, 'the guide lists requirements with their mutants');
  t.equal(Number(shown), killable(allRequirementIds).length - caught.length);
  t.end();
});

void t.test('every option in the documentation exists', (t) => {
  const reference = readPage('docs/cli.md');
  const foreign = new Set([
    ...['--experimental-vm-modules', '--network', '--save-dev', '--data-raw', '--skip-rule'],
  ]);
  for (const { path, text } of pages) {
    if (path === 'docs/style.md') continue;
    const ofProgram = text.replaceAll(/`npm run [^`]*`/g, '');
    for (const [flag] of ofProgram.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)) {
      t.ok(foreign.has(flag) || reference.includes(flag), `${path}: ${flag}`);
    }
  }
  t.end();
});

void t.test('snippets match their schemas', (t) => {
  const messages: Record<string, MessageName> = {
    'yaml scenario': 'Scenario',
    'yaml persona': 'Persona',
    'yaml seed': 'SeedDocument',
    'json fault': 'AgentFault',
    'json script': 'AgentScript',
    'json eval': 'EvalDefinition',
  };
  const checkedKinds = new Set<string>();
  for (const { page, kind, text } of blocks) {
    if (!/^(json|yaml)/.test(kind)) continue;
    const value: unknown = kind.startsWith('json') ? JSON.parse(text) : parseYaml(text);
    const message = messages[kind];
    if (!message) continue;
    checkedKinds.add(kind);
    t.same(findViolations(message, value), [], `${page}: ${kind}`);
  }
  t.same([...checkedKinds].sort(), Object.keys(messages).sort(), 'there is a snippet of each kind');
  t.end();
});

void t.test('names that the TypeScript snippets import exist in the library', (t) => {
  for (const { page, text } of blocks.filter(({ kind }) => kind === 'ts')) {
    const hasTypes = /^import type \{ .* \} from 'sandbox-kit'/m.test(text);
    const names = /^import \{ (.*) \} from 'sandbox-kit'/m.exec(text)?.[1]?.split(', ') ?? [];
    t.ok(names.length > 0 || hasTypes, page);
    for (const name of names) t.ok(name in library, `${page}: ${name}`);
  }
  t.end();
});

void t.test('links lead to existing files and headings', (t) => {
  const others = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'schemas/README.md'];
  for (const path of [...pages.map((page) => page.path), ...others]) {
    for (const [, link = ''] of withoutFences(readPage(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [file = '', heading] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      t.ok(existsSync(join(ROOT, target)), `${path}: ${link}`);
      if (heading) t.ok(headingIds(readPage(target)).includes(heading), `${path}: ${link}`);
    }
  }
  t.end();
});

void t.test('the front page and the guides are at most 100 columns wide, except tables', (t) => {
  for (const { path, text } of pages) {
    // A text in JSON can't be wrapped.
    const longLines = text
      .split('\n')
      .filter((line) => line.length > 100 && !/^\||^ +[{"]/.test(line));
    t.same(longLines, [], path);
  }
  t.end();
});

void t.test('test files and scripts that the developer pages name exist', (t) => {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
  for (const path of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
    const text = readPage(path);
    for (const [file] of text.matchAll(
      /\b(test|src|conformance|load|schemas)\/[\w/.-]+\.(ts|json)/g,
    )) {
      if (!file.includes('NAME')) t.ok(existsSync(join(ROOT, file)), `${path}: ${file}`);
    }
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g)) {
      t.ok(script in scripts, `${path}: npm run ${script}`);
    }
  }
  t.end();
});

function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function withoutFences(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

function headingIds(text: string): string[] {
  return [...withoutFences(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the fenced and indented code blocks of a page. */
function readBlocks(page: string, text: string): Block[] {
  const pattern = /^```(.*)\n([\s\S]*?)^```$|((?:^ {4}\S.*\n(?: {4,}.*\n)*)+)/gm;
  return [...text.matchAll(pattern)].map(([, kind, fenced, indented]) => ({
    page,
    kind: kind ?? 'indented',
    text: fenced ?? indented?.replaceAll(/^ {4}/gm, '') ?? '',
  }));
}

/** Returns the commands of the kit in a block: lines of shell, or `run` steps of a pipeline. */
function readCommands(block: Block, index: number, all: Block[]): Command[] {
  const lines = block.text.replaceAll('\\\n', ' ').split('\n');
  const isShell = /^(sh|indented|yaml)$/.test(block.kind);
  const commandsOfBlock: Command[] = isShell
    ? lines.flatMap((line) => {
        const text = /^\s*(?:- run: )?(?:npx )?sandbox-kit (.+)$/.exec(line)?.[1];
        return text === undefined
          ? []
          : [{ page: block.page, words: splitWords(text), outputs: [] }];
      })
    : [];
  const next = all[index + 1];
  const last = commandsOfBlock.at(-1);
  if (last && next?.kind === 'text' && next.page === block.page && isDirectlyAfter(block, next)) {
    last.outputs.push(next.text);
  }
  return commandsOfBlock;
}

function isDirectlyAfter(block: Block, next: Block): boolean {
  const page = pages.find(({ path }) => path === block.page)?.text ?? '';
  const lastLine = block.text.trimEnd().split('\n').at(-1) ?? '';
  const end = page.indexOf(lastLine) + lastLine.length;
  return /^\n(```\n)?\n```text\n$/.test(page.slice(end, page.indexOf(next.text, end)));
}

/** Splits a line as a shell does; quotes hold words together. Comments and redirections are omitted. */
function splitWords(line: string): string[] {
  const words = line.replace(/ (?:# |> [\w.]+$).*$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...words].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

/** Merges equal commands of several pages, so that each runs once. */
function distinct(list: readonly Command[]): Command[] {
  const byLine = new Map<string, Command>();
  for (const command of list) {
    const line = command.words.join(' ');
    const equal = byLine.get(line);
    if (equal) equal.outputs.push(...command.outputs);
    else byLine.set(line, { ...command, outputs: [...command.outputs] });
  }
  return [...byLine.values()];
}

function adapt(words: readonly string[], adaptation: Adaptation | undefined): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!adaptation?.remove?.includes(word)) kept.push(word);
    else if (!(words[at + 1] ?? '--').startsWith('--')) at++;
  }
  return [...kept, ...(adaptation?.add ?? [])];
}

/** Returns the files that the guides describe, under the names that their commands use. */
function documentedFiles(): Record<string, string | Record<string, string>> {
  const snippet = (start: string | RegExp): string => {
    const block = blocks.find(({ kind, text }) =>
      typeof start === 'string' ? kind === start : start.test(text),
    );
    if (!block) throw new Error(`The guides have no snippet ${String(start)}.`);
    return block.text;
  };
  return {
    'accepted.json': snippet(/^\{ "accepted"/),
    'script.json': snippet('json script'),
    'seed.yaml': snippet('yaml seed'),
    'traces.json': JSON.stringify(makeTraceRequest([spanWithoutMessages()])),
    scenarios: { 'late-parcel.scenario.yaml': snippet('yaml scenario') },
  };
}

/** Returns a trace request that `lint-traces` explains: its chat span has no messages. */
function spanWithoutMessages(): Record<string, unknown> {
  const span = makeSpan();
  const attributes = span['attributes'] as { key: string }[];
  return { ...span, attributes: attributes.filter(({ key }) => !key.endsWith('.messages')) };
}

/** Stores the conversation `conv-1` that the guides name. */
async function sendConversation(service: { url: string; apiKey: string }): Promise<void> {
  const response = await fetch(`${service.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': service.apiKey },
    body: JSON.stringify(makeTraceRequest()),
  });
  if (!response.ok) throw new Error(`The service responds with ${String(response.status)}.`);
}

/** Returns the number of the first chat request with this step that a report can send again. */
function findExchange(path: string, step: string): string {
  const { resendable } = JSON.parse(readFileSync(path, 'utf8')) as CheckReport;
  const found = resendable?.exchanges.find(
    ({ exchange }) => exchange.endpoint === 'chat' && exchange.step === step,
  );
  if (!found) throw new Error(`${path} does not contain the request "${step}".`);
  return String(found.exchange.id);
}

/** Returns the curl commands of the documentation, each with all its lines. */
function curlCommands(): { page: string; text: string }[] {
  return blocks
    .filter(({ kind }) => kind === 'indented' || kind === 'sh')
    .flatMap(({ page, text }) =>
      text
        .split(/\n(?=\S)/)
        .filter((line) => line.startsWith('curl '))
        .map((line) => ({ page, text: line.trim() })),
    );
}

/** Runs a curl command in a shell and returns the status of the response. */
async function runCurl(script: string, env: Record<string, string>): Promise<string> {
  const command = script.replace(/^curl/, "curl -s -o /dev/null -w '%{http_code}'");
  const { PATH = '' } = process.env;
  const child = spawn('sh', ['-c', command], { env: { PATH, ...env } });
  let status = '';
  child.stdout.on('data', (chunk) => (status += String(chunk)));
  await once(child, 'close');
  return status;
}

async function runServer(t: Test, command: Command, words: string[], cwd: string): Promise<void> {
  const hasPort = words.includes('--port');
  const server = await runInBackground(t, hasPort ? words : [...words, '--port', '0'], { cwd });
  const maskDigits = (text: string): string => text.replaceAll(/\d+/g, '0');
  const line = `${command.page}: ${words.join(' ')}`;
  t.match(server.firstLine, /^(\{"url":|The \w+ listens at )/, line);
  for (const output of command.outputs) {
    t.equal(maskDigits(server.firstLine), maskDigits(output.split('\n')[0] ?? ''), line);
  }
  t.equal(await server.end('SIGTERM'), 0, line);
}

/** Asserts that each line of the shown output is real; lines with figures, URLs, or `…` are not compared. */
function assertShownOutput(t: Test, { page, words, outputs }: Command, actual: string): void {
  const lines = outputs
    .flatMap((output) => output.split('\n'))
    .filter((line) => !/[\d…]|:\/\//.test(line));
  for (const line of lines) {
    t.ok(actual.includes(line), `${page}: ${words.join(' ')} prints "${line.trim()}"`);
  }
}
