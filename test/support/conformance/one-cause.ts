/** Reports of recorded services with a defect, which should name it as one cause. */
import type { Test } from 'tap';
import { serviceSuite } from '../../../conformance/areas/index.ts';
import type { TransformFactory } from '../../../conformance/engine/mutants/mutant.ts';
import { reportOf } from '../../../conformance/index.ts';
import { replay } from '../../../conformance/proof/replay.ts';
import { findViolations, type CheckReport } from '../../../src/contract/index.ts';
import { recordServiceOnce } from './recorded-runs.ts';
import { idsWith } from './verdicts.ts';

/** Applies a defect to the recorded run of the reference service, and judges it. */
export async function reportWith(transform: TransformFactory): Promise<CheckReport> {
  const { transcript } = await recordServiceOnce();
  const distortion = { id: 'test', areas: ['service'] as const, transform };
  const distorted = (await replay(distortion, serviceSuite, transcript)).transcript;
  if (!distorted) throw new Error('The recording does not show the defect.');
  return reportOf(distorted, transcript.run.startedAt);
}

/** A defect of a service, and what the only cause of its failures says. */
export interface ServiceDefect {
  title: string;
  transform: TransformFactory;
  says: RegExp;
  clears: readonly string[];
  hint?: RegExp;
}

/** Asserts that one cause explains all failures of a report. */
export function assertOneCause(
  t: Test,
  report: CheckReport,
  says: RegExp,
  clears: readonly string[],
  hint?: RegExp,
): void {
  t.same(findViolations('CheckReport', report), []);
  t.equal(report.causes.length, 1, report.causes.map((cause) => cause.description).join('\n'));
  const [cause] = report.causes;
  t.match(cause?.description, says);
  for (const id of clears) t.ok(cause?.clears.includes(id), `clears ${id}`);
  t.same(
    idsWith(report, 'fail', 'blocked').filter((id) => !cause?.clears.includes(id)),
    [],
    'nothing else fails',
  );
  t.ok(cause?.example?.expected && cause.example.received, 'has an example');
  if (hint) t.match(cause?.example?.hint, hint);
}
