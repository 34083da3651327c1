/** Checks a foreign sandbox with the command `check` and compares the verdict with the table. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckReport } from '../../../src/contract/index.ts';
import { run } from '../../support/commands/command.ts';
import type { Row } from '../../support/conformance/check-report.ts';
import { sandboxes, type Defect } from './expectations.ts';
import { API_KEY, startSandbox } from './run-sandbox.ts';

/** More failures than these that do not name the fault make a report hard to read. */
export const UNRELATED_MAX = 3;

/** One failed or warned requirement of a measurement. */
interface Finding {
  id: string;
  section: string;
  rule: string;
  received?: string | undefined;
  step?: string | undefined;
}

export interface Measurement {
  sandbox: string;
  defect?: string | undefined;
  oddity?: string | undefined;
  verdict: CheckReport['verdict'];
  blockedBy?: CheckReport['blockedBy'];
  durationMs: number;
  /** How often the sandbox ended by itself. */
  exits: number;
  fails: Finding[];
  warns: Finding[];
  causes: string[];
}

/**
 * How a report shows a defect: a failure that names it, only a warning, a cause that prevents the
 * judgment, only other failures, or not at all.
 */
export type Outcome = 'expected' | 'warning' | 'blocked' | 'elsewhere' | 'missed';

/** Starts a sandbox, checks it, and returns the requirements that did not pass. */
export async function measure(
  name: string,
  change: { defect?: Defect; oddity?: string } = {},
  chosenSeed = process.env.FIELD_SEED ?? 'field',
): Promise<Measurement> {
  const entry = sandboxes[name];
  if (!entry) throw new Error(`Unknown sandbox ${name}.`);
  const { file, prompt, requiresKey } = entry;
  const { defect, oddity } = change;
  const sandbox = await startSandbox({
    file,
    defect: defect?.name,
    oddity,
    restarts: defect?.restarts,
  });
  const directory = mkdtempSync(join(tmpdir(), 'field-'));
  const path = join(directory, 'check.json');
  const start = Date.now();
  try {
    const seed = ['--seed', chosenSeed];
    const options = ['--area', 'chat,health,users', '--prompt', prompt, ...seed, '--json', path];
    const { code, stderr } = await run(['check', sandbox.url, ...options], {
      env: requiresKey ? { SANDBOX_KIT_API_KEY: API_KEY } : {},
    });
    const durationMs = Date.now() - start;
    if (code !== 0 && code !== 1 && code !== 3) throw new Error(`exit code ${code}: ${stderr}`);
    const report = JSON.parse(readFileSync(path, 'utf8')) as CheckReport;
    return {
      sandbox: name,
      defect: defect?.name,
      oddity,
      verdict: report.verdict,
      blockedBy: report.blockedBy,
      durationMs,
      exits: sandbox.exits(),
      fails: report.requirements.filter(({ verdict }) => verdict === 'fail').map(toFinding),
      warns: report.requirements.filter(({ verdict }) => verdict === 'warn').map(toFinding),
      causes: report.causes.map(({ description }) => description),
    };
  } finally {
    await sandbox.stop();
    rmSync(directory, { recursive: true });
  }
}

function toFinding({ id, section, rule, received, evidence }: Row): Finding {
  return { id, section, rule, received, step: evidence[0]?.step };
}

/** Tells whether a finding names the fault that the table describes. */
function isExpected({ areas, rule }: Defect, { id, rule: text }: Finding): boolean {
  const area = id.slice(0, id.indexOf('-')).toLowerCase();
  return areas.includes(area) && rule.test(text);
}

/** Returns how a defect was caught, and the failures that do not name it. */
export function judge(
  defect: Defect,
  { verdict, fails, warns }: Measurement,
): { outcome: Outcome; unrelated: Finding[] } {
  const unrelated = fails.filter((finding) => !isExpected(defect, finding));
  if (fails.length > unrelated.length) return { outcome: 'expected', unrelated };
  if (fails.length > 0) return { outcome: 'elsewhere', unrelated };
  if (verdict === 'not-judged') return { outcome: 'blocked', unrelated };
  const isWarned = warns.some((finding) => isExpected(defect, finding));
  return { outcome: isWarned ? 'warning' : 'missed', unrelated };
}
