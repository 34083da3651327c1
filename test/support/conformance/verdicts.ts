/** Reads the verdicts of requirements from a report or a judgment. */
import type { Judgment } from '../../../conformance/engine/judge/judge.ts';
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
