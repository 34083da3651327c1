/** The recipes for load tests from several machines run unchanged; the machines are processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import type { LoadReport } from '../../src/contract/index.ts';
import { nightOnly } from '../support/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const recipe = (name: string): string => join(ROOT, 'docs/recipes', name);
const MAIN = join(ROOT, 'cli/main.ts');

/** A small run that starts when all processes of a busy machine are ready. */
const SMALL = { RATE: '20', DURATION: '2s' };
const START_IN = '40 seconds';

/** Creates a directory with programs: `sandbox-kit`, and `npx` that runs the kit of this repository. */
function createPrograms(workspace: string, others: Record<string, string> = {}): string {
  const kit = `export NODE_COMPILE_CACHE="${COMPILE_CACHE}"; exec "${process.execPath}" "${MAIN}" "$@"`;
  const npx = `[ "$1 $2 $4 $5" = "--yes --package -- sandbox-kit" ] || exit 99\nshift 5\n${kit}`;
  const directory = join(workspace, 'programs');
  mkdirSync(directory);
  for (const [name, text] of Object.entries({ 'sandbox-kit': kit, npx, ...others })) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return directory;
}

interface Ran {
  code: number | null;
  output: string;
}

/** Runs shell commands as a CI runner does. */
async function runShell(
  commands: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Ran> {
  const child = spawn('bash', ['-eo', 'pipefail', '-c', commands.join('\n')], { cwd, env });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const pathWith = (programs: string): string =>
  `${programs}:${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;

/** Asserts that a merged report covers the whole run. */
function assertMerged(t: Test, ran: Ran, path: string, shards: number): void {
  if (!existsSync(path)) throw new Error(`There is no merged report: ${ran.output}`);
  const report = JSON.parse(readFileSync(path, 'utf8')) as LoadReport;
  t.equal(ran.code, report.exitCode, ran.output);
  t.equal(report.mergedFrom?.length, shards);
  t.match(report.chat, { offered: 40, sent: 40, ok: 40, errors: {} });
  // 40 requests prove nothing, or this machine was busy.
  t.ok(['NOT PROVEN', 'INVALID RUN'].includes(report.verdict), report.sentence);
}

interface GitHubJob {
  needs?: string;
  if?: string;
  env?: Record<string, string>;
  strategy?: { matrix: { shard: number[] } };
  steps: { id?: string; uses?: string; if?: string; run?: string; with?: Record<string, string> }[];
}

void t.test('GitHub: a matrix of runners sends one load test', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const { env: defaults, jobs } = parse(readFileSync(recipe('load-github.yml'), 'utf8')) as {
    env: Record<string, string>;
    jobs: Record<'plan' | 'shard' | 'verdict', GitHubJob>;
  };
  t.same(Object.keys(defaults), ['SANDBOX_KIT', 'SANDBOX_URL', 'RATE', 'DURATION', 'START_IN']);
  const workspace = t.testdir({ output: '', summary: '', shards: {} });
  const base = {
    ...defaults,
    ...SMALL,
    START_IN,
    SANDBOX_URL: agent.url,
    PATH: pathWith(createPrograms(workspace)),
    GITHUB_OUTPUT: join(workspace, 'output'),
    GITHUB_STEP_SUMMARY: join(workspace, 'summary'),
  };
  const linesOf = ({ steps }: GitHubJob): string[] => steps.flatMap(({ run }) => run ?? []);
  const planned = await runShell(linesOf(jobs.plan), workspace, base);
  t.equal(planned.code, 0, planned.output);
  const [, start = ''] = /^start=(.+)$/m.exec(readFileSync(base.GITHUB_OUTPUT, 'utf8')) ?? [];
  t.equal(jobs.plan.steps[0]?.id, 'plan');
  const shards = jobs.shard.strategy?.matrix.shard ?? [];
  t.ok(shards.length > 1);
  const context = (shard: number): Record<string, string> => ({
    'matrix.shard': String(shard),
    'strategy.job-total': String(shards.length),
    'needs.plan.outputs.start': start,
    'github.run_id': '77',
    'github.run_attempt': '1',
    'secrets.SANDBOX_API_KEY': '',
  });
  const evaluate = (text: string, shard: number): string =>
    text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => {
      const value = context(shard)[name];
      if (value === undefined) throw new Error(`Unknown expression ${name}.`);
      return value;
    });
  await Promise.all(
    shards.map(async (shard) => {
      const [upload] = jobs.shard.steps.filter(({ uses }) => uses?.includes('upload-artifact'));
      const artifact = evaluate(upload?.with?.['name'] ?? '', shard);
      // download-artifact puts each artifact into a directory with its name.
      const directory = join(workspace, 'shards', artifact);
      mkdirSync(directory, { recursive: true });
      const env = Object.entries(jobs.shard.env ?? {}).map(([name, text]) => [
        name,
        evaluate(text, shard),
      ]);
      const { SANDBOX_KIT_API_KEY: _key, ...variables } = Object.fromEntries(env) as Record<
        string,
        string
      >;
      const ran = await runShell(linesOf(jobs.shard), directory, { ...base, ...variables });
      t.ok([0, 3].includes(ran.code ?? -1), ran.output);
      t.match(upload, { if: 'always()', with: { path: 'shard.json' } });
    }),
  );
  const ran = await runShell(linesOf(jobs.verdict), workspace, base);
  assertMerged(t, ran, join(workspace, 'load.json'), shards.length);
  t.match(readFileSync(base.GITHUB_STEP_SUMMARY, 'utf8'), /^## sandbox-kit load: /);
  t.match(readFileSync(join(workspace, 'load.html'), 'utf8'), /^<!doctype html>/);
  t.match(jobs.verdict, { needs: 'shard', if: '${{ !cancelled() }}' });
});

interface GitLabJob {
  stage: string;
  parallel?: number;
  when?: string;
  script: string[];
}

void t.test('GitLab: parallel jobs send one load test', nightOnly(), async (t) => {
  const { agent } = await withReferenceAgent(t);
  const pipeline = parse(readFileSync(recipe('load-gitlab-ci.yml'), 'utf8')) as {
    variables: Record<string, string>;
    stages: string[];
  } & Record<'plan-load' | 'load-shard' | 'load-verdict', GitLabJob>;
  const workspace = t.testdir({});
  const base = {
    ...pipeline.variables,
    ...SMALL,
    START_IN,
    SANDBOX_URL: agent.url,
    PATH: pathWith(createPrograms(workspace)),
    CI_PIPELINE_ID: '4711',
  };
  const planned = await runShell(pipeline['plan-load'].script, workspace, base);
  t.equal(planned.code, 0, planned.output);
  const [, START = ''] =
    /^START=(.+)$/m.exec(readFileSync(join(workspace, 'load.env'), 'utf8')) ?? [];
  const count = pipeline['load-shard'].parallel ?? 0;
  t.ok(count > 1);
  await Promise.all(
    Array.from({ length: count }, async (_, nth) => {
      const ran = await runShell(pipeline['load-shard'].script, workspace, {
        ...base,
        START,
        CI_NODE_INDEX: String(nth + 1),
        CI_NODE_TOTAL: String(count),
      });
      t.ok([0, 3].includes(ran.code ?? -1), ran.output);
    }),
  );
  const ran = await runShell(pipeline['load-verdict'].script, workspace, base);
  assertMerged(t, ran, join(workspace, 'load.json'), count);
  t.match(readFileSync(join(workspace, 'load.xml'), 'utf8'), /<testsuites name="sandbox-kit load"/);
  t.equal(pipeline['load-verdict'].when, 'always');
});

/** A `kubectl` that keeps the manifest, and runs the pods while the script waits for the Job. */
const KUBECTL = `exec "${process.execPath}" "${join(ROOT, 'test/recipes/fake-kubectl.ts')}" "$@"`;

void t.test('Kubernetes: the pods of an Indexed Job send one load test', nightOnly(), async (t) => {
  const { agent } = await withReferenceAgent(t);
  const workspace = t.testdir({ cluster: {}, other: {} });
  const env = {
    ...SMALL,
    SANDBOX_URL: agent.url,
    IMAGE: 'registry.example.com/sandbox-kit:1',
    SHARDS: '3',
    START_SECONDS: '40',
    SANDBOX_KIT: 'sandbox-kit',
    PATH: pathWith(createPrograms(workspace, { kubectl: KUBECTL })),
    CLUSTER: join(workspace, 'cluster'),
  };
  const script = [`sh "${recipe('load-kubernetes.sh')}" --json load.json --html load.html`];
  const ran = await runShell(script, workspace, env);
  assertMerged(t, ran, join(workspace, 'load.json'), 3);
  const manifest = readFileSync(join(workspace, 'cluster/job.yaml'), 'utf8');
  t.notMatch(manifest, /\$\{/, 'every placeholder is replaced');
  t.match(manifest, /image: '?registry\.example\.com\/sandbox-kit:1'?/);
  const failed = await runShell(script, workspace, {
    ...env,
    RATE: 'fast',
    CLUSTER: join(workspace, 'other'),
  });
  t.equal(failed.code, 2, 'a wrong option is the exit code of the script');
  t.match(failed.output, /--rate must be a number above 0/);
});
