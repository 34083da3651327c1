/** Files that commands read: configuration, scenarios, personas, seed data, recordings, reports, traces. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc, { type Arbitrary } from 'fast-check';
import { stringify } from 'yaml';
import { startAgent, type RunningAgent } from '../../../library/index.ts';
import type { MessageName } from '../../../src/contract/index.ts';
import { run } from '../../support/commands/command.ts';
import { ROOT } from '../../support/repository.ts';
import { defineTarget, Violation } from '../engine/target.ts';
import { byteEdits, editBytes, rareByteEdits, type ByteEdit } from '../inputs/byte-edits.ts';
import { editJson, jsonEdits, type JsonEdit, writeJson } from '../inputs/json-edits.ts';
import { messageInputs, structureOfSchema, type PatternValues } from '../inputs/schema-inputs.ts';
import { traceInputs } from '../inputs/trace-inputs.ts';

/** The names of files that real runs wrote, which are changed. */
type Written = 'recording' | 'check' | 'simulation' | 'load';

/** A file of a real run with changes, or one that the schemas describe. */
type Input = { edits: ByteEdit[] } & (
  | {
      command: 'grade' | 'resend' | 'compare' | 'compare simulation' | 'merge';
      file: Written;
      line: number;
      changes: JsonEdit[];
    }
  | { command: DocumentCommand; value: unknown; isYaml: boolean }
);

type DocumentCommand =
  | 'configuration'
  | 'scenario'
  | 'persona'
  | 'seed'
  | 'script'
  | 'known failures'
  | 'headers'
  | 'lint-traces';

/** Nothing may be reached but this machine. */
const PATTERNS: PatternValues = {
  '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$': fc.constantFrom(
    'http://127.0.0.1:9',
    'http://localhost:9/a',
  ),
  '^wss?://[^\\s/?#@]+(/[^\\s?#]*)?$': fc.constantFrom('ws://127.0.0.1:9', 'ws://localhost:9/a'),
};

/** Options that name files to write, and the address, whose error would hide those of all others. */
const LEFT_OUT = new Set([
  'url',
  'json',
  'junit',
  'markdown',
  'html',
  'record',
  'saveAudio',
  'out',
  'caOut',
  'data',
  'watch',
]);

interface ConfigSchema {
  properties: Record<string, { properties?: Record<string, unknown> }>;
}

/** The schema of the configuration file, for the commands that send nothing and write no files. */
function readConfigSchema(): object {
  const text = readFileSync(join(ROOT, 'schemas/sandbox-kit.config.json'), 'utf8');
  const schema = JSON.parse(text) as ConfigSchema;
  const { url: _, ...properties } = schema.properties;
  const sections = Object.entries(properties).map(([name, section]) => {
    const kept = Object.entries(section.properties ?? {}).filter(([key]) => !LEFT_OUT.has(key));
    return [
      name,
      section.properties ? { ...section, properties: Object.fromEntries(kept) } : section,
    ];
  });
  return { ...schema, properties: Object.fromEntries(sections) as unknown };
}

const written = (
  command: 'grade' | 'resend' | 'compare' | 'compare simulation' | 'merge',
  file: Written,
): Arbitrary<Input> =>
  fc.record({
    command: fc.constant(command),
    file: fc.constant(file),
    line: fc.nat(500),
    changes: jsonEdits,
    edits: rareByteEdits,
  });

const document = (command: DocumentCommand, value: Arbitrary<unknown>): Arbitrary<Input> =>
  fc.record({
    command: fc.constant(command),
    value,
    isYaml: fc.boolean(),
    edits: rareByteEdits,
  });

const changed = (value: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.tuple(value, jsonEdits).map(([each, edits]) => editJson(each, edits));

const message = (name: MessageName): Arbitrary<unknown> => messageInputs(name, PATTERNS);

const knownFailures = fc.record({
  accepted: fc.array(
    fc.record({
      id: fc.constantFrom('CHAT-024', 'CHAT-001', 'SERVICE-001', 'x', ''),
      comment: fc.constantFrom('why', ' ', ''),
    }),
    { maxLength: 4 },
  ),
});

const input: Arbitrary<Input> = fc.oneof(
  { weight: 6, arbitrary: written('grade', 'recording') },
  { weight: 3, arbitrary: written('resend', 'check') },
  { weight: 2, arbitrary: written('resend', 'simulation') },
  { weight: 1, arbitrary: written('resend', 'recording') },
  { weight: 2, arbitrary: written('compare', 'check') },
  { weight: 2, arbitrary: written('compare simulation', 'simulation') },
  { weight: 3, arbitrary: written('merge', 'load') },
  {
    weight: 8,
    arbitrary: document('configuration', changed(structureOfSchema(readConfigSchema()))),
  },
  { weight: 5, arbitrary: document('scenario', message('Scenario')) },
  { weight: 3, arbitrary: document('persona', message('Persona')) },
  { weight: 2, arbitrary: document('seed', message('SeedDocument')) },
  { weight: 3, arbitrary: document('script', message('AgentScript')) },
  { weight: 2, arbitrary: document('known failures', changed(knownFailures)) },
  {
    weight: 2,
    arbitrary: fc.record({
      command: fc.constant('headers' as const),
      isYaml: fc.constant(false),
      edits: byteEdits,
      value: fc.constantFrom(
        'X-A: b\n# c\n\nX-D: e\n',
        'Authorization: x\n',
        'x',
        ': y',
        'A: \x00',
      ),
    }),
  },
  { weight: 3, arbitrary: document('lint-traces', traceInputs) },
);

/** Returns a value as YAML or JSON; a text as it is. */
function write(value: unknown, isYaml: boolean): string {
  if (typeof value === 'string') return value;
  try {
    if (isYaml) return stringify(value);
  } catch {
    // Some values are too deep for YAML.
  }
  return writeJson(value);
}

/** Changes the lines of a recording, or a report as a whole. */
function change(
  text: string,
  line: number,
  changes: readonly JsonEdit[],
  isLines: boolean,
): string {
  if (!isLines) return writeJson(editJson(JSON.parse(text), changes));
  const lines = text.trimEnd().split('\n');
  const at = line % lines.length;
  return lines.with(at, writeJson(editJson(JSON.parse(lines[at] ?? ''), changes))).join('\n');
}

/** What the files of real runs are. */
type Files = Readonly<Record<Written, string>>;

const RECORDING = 'run.ndjson';

/** The second shard of the load test whose first one is changed. */
const OTHER_SHARD = 'load-2.json';

/** Runs commands that write the files. */
async function writeFiles(): Promise<Files & { otherShard: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-kit-fuzz-'));
  const agent = await startAgent({ voice: null });
  const broken = await startAgent({ mutant: 'chat/content-null', voice: null });
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const kit = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await run(args, { cwd: directory });
    if (code === 2 || code === 70) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  };
  await kit('check', agent.url, '--area', 'health', '--record', RECORDING);
  await kit('check', broken.url, '--area', 'chat', '--json', 'check.json');
  await kit('simulate', broken.url, '--scenario', 'remembers', '--json', 'simulation.json');
  const shards = [1, 2].map((nth) => [
    '--shard',
    `${nth}/2`,
    '--seed',
    'fuzz',
    '--json',
    `load-${nth}.json`,
  ]);
  const plan = ['--rate', '10', '--duration', '1s'];
  await Promise.all(shards.map((shard) => kit('load', agent.url, ...shard, ...plan)));
  await Promise.all([agent.stop(), broken.stop()]);
  const files = {
    recording: read(RECORDING),
    check: read('check.json'),
    simulation: read('simulation.json'),
    load: read('load-1.json'),
    otherShard: read(OTHER_SHARD),
  };
  rmSync(directory, { recursive: true });
  return files;
}

let shared: ReturnType<typeof writeFiles> | undefined;

/** Returns the arguments of a command that reads a file. */
function argumentsOf(sent: Input, file: string, agent: RunningAgent): string[] {
  switch (sent.command) {
    case 'grade':
      return ['grade', file, '--json', '-'];
    case 'resend':
      return [
        'resend',
        file,
        sent.file === 'simulation' ? 'remembers-1/1' : String(1 + (sent.line % 40)),
        '--url',
        agent.url,
        '--allow-other-host',
      ];
    case 'compare':
      return ['check', agent.url, '--area', 'health', '--compare', file, '--markdown', '-'];
    case 'compare simulation':
      return [
        'simulate',
        agent.url,
        '--scenario',
        'remembers',
        '--compare',
        file,
        '--markdown',
        '-',
      ];
    case 'merge':
      return ['load', '--merge', file, OTHER_SHARD, '--markdown', '-'];
    case 'configuration':
      return ['check', 'http://127.0.0.1:9', '--dry-run', '--config', file];
    case 'scenario':
    case 'persona':
      return ['simulate', 'http://127.0.0.1:9', '--scenario', file];
    case 'seed':
      return ['exec', '--seed-file', file, '--', 'true'];
    case 'script':
      return ['agent', '--script', file, '--port', new URL(agent.url).port];
    case 'known failures':
      return ['grade', RECORDING, '--known-failures', file];
    case 'headers':
      return ['check', 'http://127.0.0.1:9', '--dry-run', '--header-file', file];
    case 'lint-traces':
      return ['lint-traces', file, '--json', '-'];
  }
}

/** Whether an error names a place in the sources. */
const STACK_LINE = /^\s+at .*\((file:|node:|\/)/m;

const SCENARIO = { id: 's', name: 'S', persona: 'p', user: { opening: 'Hello.' } };

export default defineTarget<Input>({
  about: 'files of every kind, to the commands that read them',
  inputs: input,
  inputsPerRound: 100,
  async open() {
    const base = mkdtempSync(join(tmpdir(), 'sandbox-kit-fuzz-'));
    // Deep, so that paths with .. stay below it.
    const directory = join(base, ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    mkdirSync(directory, { recursive: true });
    const agent = await startAgent({ voice: null });
    const { otherShard, ...files } = await (shared ??= writeFiles());
    writeFileSync(join(directory, OTHER_SHARD), otherShard);
    writeFileSync(join(directory, RECORDING), files.recording);
    const encode = (sent: Input): Buffer => {
      const text =
        'file' in sent
          ? change(files[sent.file], sent.line, sent.changes, sent.file === 'recording')
          : write(sent.value, sent.isYaml);
      return editBytes(Buffer.from(text), sent.edits);
    };
    /** Writes the file of an input, and returns its name. */
    const place = (sent: Input): string => {
      const bytes = encode(sent);
      if (sent.command === 'persona') {
        writeFileSync(join(directory, 'p.persona.yaml'), bytes);
        writeFileSync(join(directory, 's.scenario.yaml'), JSON.stringify(SCENARIO));
        return 's.scenario.yaml';
      }
      rmSync(join(directory, 'p.persona.yaml'), { force: true });
      const name = sent.command === 'scenario' ? 's.scenario.yaml' : 'input.json';
      writeFileSync(join(directory, name), bytes);
      return name;
    };
    return {
      async send(sent) {
        const args = argumentsOf(sent, place(sent), agent);
        const { code, stdout, stderr } = await run(args, { cwd: directory });
        const about = `sandbox-kit ${args.join(' ')} exited with ${String(code)}: ${stderr.slice(0, 1_000)}`;
        if (code === null || code < 0 || code > 3) throw new Violation(about);
        if (STACK_LINE.test(stderr)) throw new Violation(`A stack trace: ${about}`);
        if (code === 2 && stderr === '')
          throw new Violation(`No message: ${about}${stdout.slice(0, 300)}`);
      },
      describe: (sent) => `${sent.command}: ${encode(sent).toString('utf8').slice(0, 4_000)}`,
      reset: () => agent.reset(),
      async close() {
        await agent.stop();
        rmSync(base, { recursive: true, force: true });
      },
    };
  },
});
