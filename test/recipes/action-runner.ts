/** Runs the steps of action.yml as a GitHub runner does. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { systemClock } from '../../src/platform/clock.ts';
import { readShellEnvironment } from '../support/commands/shell-environment.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';

const STEP_MS_MAX = 600_000;

interface Step {
  id: string;
  shell: string;
  'working-directory'?: string;
  env?: Record<string, string>;
  run: string;
}

/** The parts of a composite action that the tests read. */
interface Action {
  inputs: Record<string, { description: string; default?: string }>;
  outputs: Record<string, { description: string; value: string }>;
  runs: { using: string; steps: Step[] };
}

export function readAction(): Action {
  return parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as Action;
}

/** Options of a job that runs the action. */
interface ActionCall {
  inputs: Record<string, string>;
  /** The checkout of the user's repository. */
  workspace: string;
  /** Directories before those of PATH. */
  path?: string[];
  env?: Record<string, string>;
}

/** The results of the action for a job. */
export interface ActionResult {
  /** The exit code of the step that failed, or 0. */
  code: number | null;
  outputs: Record<string, string>;
  summary: string;
  log: string;
}

/** The values that expressions such as `inputs.url` refer to. */
type Context = Record<string, string>;

/** Runs the action. Its temporary files are in `.runner` of the workspace. */
export async function runAction(call: ActionCall): Promise<ActionResult> {
  const action = readAction();
  const temp = join(call.workspace, '.runner');
  mkdirSync(temp, { recursive: true });
  const context: Context = { 'github.action_path': ROOT };
  for (const [name, input] of Object.entries(action.inputs)) {
    context[`inputs.${name}`] = call.inputs[name] ?? input.default ?? '';
  }
  const summaryFile = join(temp, 'summary');
  writeFileSync(summaryFile, '');
  const result: ActionResult = { code: 0, outputs: {}, summary: '', log: '' };
  for (const step of action.runs.steps) {
    const outputFile = join(temp, `output-${step.id}`);
    writeFileSync(outputFile, '');
    const { code, log } = await runStep(step, { call, context, temp, outputFile, summaryFile });
    result.log += log;
    for (const line of readFileSync(outputFile, 'utf8').split('\n').filter(Boolean)) {
      const [, name = '', value = ''] = /^([\w-]+)=(.*)$/.exec(line) ?? [];
      context[`steps.${step.id}.outputs.${name}`] = value;
    }
    result.code = code;
    if (code !== 0) break;
  }
  result.summary = readFileSync(summaryFile, 'utf8');
  for (const [name, { value }] of Object.entries(action.outputs)) {
    result.outputs[name] = evaluate(value, context);
  }
  return result;
}

/** Replaces expressions; an unknown value is empty, as on GitHub. */
function evaluate(text: string, context: Context): string {
  return text.replaceAll(/\$\{\{ *([\w.-]+) *\}\}/g, (_, name: string) => context[name] ?? '');
}

async function runStep(
  step: Step,
  {
    call,
    context,
    temp,
    outputFile,
    summaryFile,
  }: {
    call: ActionCall;
    context: Context;
    temp: string;
    outputFile: string;
    summaryFile: string;
  },
): Promise<{ code: number | null; log: string }> {
  const script = join(temp, `${step.id}.sh`);
  writeFileSync(script, evaluate(step.run, context));
  const stepEnv = Object.entries(step.env ?? {}).map(
    ([name, value]) => [name, evaluate(value, context)] as const,
  );
  const shell = readShellEnvironment();
  const env = {
    ...shell,
    PATH: [...(call.path ?? []), dirname(process.execPath), shell['PATH']].join(':'),
    CI: 'true',
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: ROOT,
    GITHUB_OUTPUT: outputFile,
    GITHUB_STEP_SUMMARY: summaryFile,
    GITHUB_WORKSPACE: call.workspace,
    RUNNER_TEMP: temp,
    ...call.env,
    ...Object.fromEntries(stepEnv),
  };
  const cwd = join(call.workspace, evaluate(step['working-directory'] ?? '.', context));
  // The flags that GitHub documents for `shell: bash`.
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', script];
  const child = spawn(step.shell, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  using deadline = systemClock.deadline(STEP_MS_MAX);
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (log += String(chunk)));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, log };
}
