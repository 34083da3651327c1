/** Reads the verdicts of requirements from a report or a judgment. */
import type { Test } from 'tap';
import type { Suite } from '../../../conformance/engine/area.ts';
import { judgeTranscript, type Judgment } from '../../../conformance/engine/judge/judge.ts';
import type { Transcript } from '../../../conformance/engine/transcript/transcript.ts';
import type { CheckReport } from '../../../src/contract/index.ts';
import type { Row } from './check-report.ts';

/** Finds the result of a requirement in a report. */
export const rowOf = ({ requirements }: CheckReport, id: string): Row | undefined =>
  requirements.find((candidate) => candidate.id === id);

/** Lists the requirements of a report with one of the verdicts. */
export const idsWith = ({ requirements }: CheckReport, ...verdicts: string[]): string[] =>
  requirements.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id }) => id);

/** Lists the requirements of a judgment with one of the verdicts. */
export const idsJudged = ({ requirements }: Judgment, ...verdicts: string[]): string[] =>
  [...requirements].filter(([, { verdict }]) => verdicts.includes(verdict)).map(([id]) => id);

/** Asserts that each probe yields evidence for every requirement that it exercises. */
export function assertEvidence(t: Test, suite: Suite, transcript: Transcript): void {
  const { requirements } = judgeTranscript(suite, transcript);
  for (const { id, exercises } of suite.probes) {
    for (const exercised of exercises) {
      const result = requirements.get(exercised);
      const evidence = result && 'evidence' in result ? result.evidence : [];
      const isOwn = evidence.some(({ probe }) => probe === id);
      t.ok(isOwn, `${id} exercises ${exercised}`);
    }
  }
}
