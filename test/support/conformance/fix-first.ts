/** What the tests of "Fix first" share: a defect in front of the reference agent, and its causes. */
import type { Test } from 'tap';
import { mutants } from '../../../conformance/areas/mutants.ts';
import type { TransformFactory } from '../../../conformance/engine/mutants/mutant.ts';
import { check, terminalReport, type CheckSettings } from '../../../conformance/index.ts';
import { findViolations, type CheckReport } from '../../../src/contract/index.ts';
import { plainStyle } from '../../../src/report-kit/terminal.ts';
import { withDistortion } from '../sandboxes/distortions.ts';
import { startTextAgent } from '../sandboxes/text-agent.ts';

/** A defect, and what "Fix first" says about it. */
export interface FixFirstCase {
  title: string;
  defect: TransformFactory;
  /** What the first cause says. */
  says: RegExp;
  /** What no cause says. */
  never?: RegExp;
  /** It is the only cause. */
  isOnly?: true;
  example?: Partial<Record<'requirement' | 'received' | 'message' | 'hint', string | RegExp>>;
}

/** Returns the defect of a mutant. */
export function defectOf(id: string): TransformFactory {
  const mutant = mutants.find((one) => one.id === id);
  if (!mutant) throw new Error(`Unknown mutant ${id}`);
  return mutant.transform;
}

/** Checks a sandbox behind a defect (default: the reference agent). */
export async function reportOnDefect(
  t: Test,
  defect: TransformFactory,
  { upstream, ...settings }: Partial<CheckSettings> & { upstream?: string } = {},
): Promise<CheckReport> {
  const target = await withDistortion(t, upstream ?? (await startTextAgent(t)), defect);
  const areas = ['chat', 'health', 'users'] as const;
  const { report } = await check({
    target,
    kitVersion: 'test',
    seed: 'advice',
    areas,
    ...settings,
  });
  t.same(findViolations('CheckReport', report), []);
  return report;
}

/** Tests what "Fix first" says about a defect. */
export function testFixFirst(
  t: Test,
  { title, defect, says, never, isOnly, example }: FixFirstCase,
): void {
  void t.test(`Fix first: ${title}`, async (t) => {
    const report = await reportOnDefect(t, defect);
    const descriptions = report.causes.map(({ description }) => description);
    t.match(descriptions[0], says);
    if (never) t.notMatch(descriptions.join('\n'), never);
    if (isOnly) t.equal(descriptions.length, 1, descriptions.join('\n'));
    if (example) t.match(report.causes[0]?.example, example);
    const { requirement = '', received = '' } = report.causes[0]?.example ?? {};
    const text = terminalReport(report, { style: plainStyle, width: 80 });
    const shown = text.match(new RegExp(`^(FAIL {2}| {4}example {3})${requirement}`, 'gm'));
    t.equal(shown?.length, 1, 'once, in the cause or below it');
    t.match(text.replaceAll(/\s+/g, ' '), `received ${received}`.replaceAll(/\s+/g, ' '));
  });
}
