import type { CauseExample, CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { formatList, formatNumber } from '../../src/report-kit/format.ts';

/** The headline of a report: its verdict, or that only the file of known failures is outdated. */
export type Headline = CheckReport['verdict'] | 'stale-known-failures';

/** Returns the headline of a report. */
export function headlineOf({
  verdict,
  requirements,
  staleKnownFailures = [],
}: CheckReport): Headline {
  const hasOpenFailure = requirements.some(
    (row) => row.verdict === 'fail' && row.accepted === undefined,
  );
  return verdict === 'not-conforming' && staleKnownFailures.length > 0 && !hasOpenFailure
    ? 'stale-known-failures'
    : verdict;
}

/** The headlines as every report shows them. */
export const headlines: Readonly<Record<Headline, string>> = {
  conforming: 'Conforming',
  'not-conforming': 'Not conforming',
  'not-judged': 'Not judged',
  'stale-known-failures': 'Known failures outdated',
};

/** Names the suite and its requirement set: "2026-11, requirement set 0.2". */
export function describeSuite({ suite, requirementSet }: CheckReport): string {
  return requirementSet === undefined ? suite : `${suite}, requirement set ${requirementSet}`;
}

/** Returns whether a report judges a client of the service. */
export const isClientReport = ({ requirements }: Pick<CheckReport, 'requirements'>): boolean =>
  requirements[0]?.area === 'client';

/** Returns the command that wrote a report. */
export const commandOf = (report: Pick<CheckReport, 'requirements'>): string =>
  isClientReport(report) ? 'sandbox-kit exec --judge-client' : 'sandbox-kit check';

/** Titles of sections that all reports share. */
export const sectionTitles = {
  causes: 'Fix first',
  knownFailures: 'Known failures',
  unjudged: 'Not judged',
  observed: 'Observed behavior',
  tried: 'Tried in this and every run',
} as const;

/** Explains what is wrong with a file of known failures whose requirements now pass. */
export function staleSentence(ids: readonly string[]): string {
  const [verb, pronoun] = ids.length === 1 ? ['passes', 'it'] : ['pass', 'them'];
  return `The list of known failures is outdated: ${ids.join(', ')} now ${verb}. Remove ${pronoun} from the file.`;
}

/** Returns the causes with the failures that are not known. */
export function openCauses({ causes, requirements }: CheckReport): CheckReport['causes'] {
  const known = requirements.filter((row) => row.accepted !== undefined).map(({ id }) => id);
  return causes
    .map((cause) => ({ ...cause, clears: cause.clears.filter((id) => !known.includes(id)) }))
    .filter(({ clears }) => clears.length > 0)
    .map(withoutRepetition);
}

/** Removes the hint of the example if the cause says the same. */
function withoutRepetition(cause: CheckReport['causes'][number]): typeof cause {
  const { description, example } = cause;
  const { hint = '', ...others } = example ?? {};
  const isRepeated = description.includes(hint.replace(/\.$/, ''));
  return example && isRepeated ? { ...cause, example: { ...others } as CauseExample } : cause;
}

/** The minimum number of failures that a cause replaces. */
const FOLDED_MIN = 2;

/** Returns the failures that the terminal does not show one by one, because a cause explains several. */
export function foldedFailures(report: CheckReport): RequirementVerdict[] {
  return openCauses(report).flatMap(({ clears }) => {
    const failed = report.requirements.filter(
      ({ id, verdict, accepted }) =>
        verdict === 'fail' && accepted === undefined && clears.includes(id),
    );
    return failed.length < FOLDED_MIN ? [] : failed;
  });
}

/** Returns the message of the sandbox unless what was received quotes it already. */
export function messageBesides({
  received = '',
  message,
}: Pick<RequirementVerdict, 'received' | 'message'>): string | undefined {
  if (message === undefined || received.includes(message)) return undefined;
  return received.includes(JSON.stringify(message).slice(1, -1)) ? undefined : message;
}

/** Says how many of the failed or blocked requirements a cause clears, after the causes before it. */
export function describeShare(
  { clears }: CheckReport['causes'][number],
  nth: number,
  { requirements }: CheckReport,
): string {
  const open = requirements.filter(
    ({ verdict, accepted }) => accepted === undefined && /^(fail|blocked)$/.test(verdict),
  );
  return nth === 0
    ? `clears ${clears.length} of ${open.length} failed or blocked requirements`
    : `clears ${clears.length} more`;
}

/** Counts requirements by verdict: `['fail', '3 fail (2 known)']`. */
export function countVerdicts({
  counts,
  requirements,
}: CheckReport): [verdict: string, text: string][] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => {
      const known = requirements.filter((row) => row.verdict === verdict && row.accepted).length;
      const suffix = known === 0 ? '' : ` (${known} known)`;
      return [verdict, `${count} ${verdictName(verdict)}${suffix}`];
    });
}

/** Returns for each row that repeats the command of an earlier row the id of the first one. */
export function findRepeatedCommands(
  rows: readonly Pick<RequirementVerdict, 'id' | 'curl'>[],
): ReadonlyMap<string, string> {
  const firstIds = new Map<string, string>();
  const repeated = new Map<string, string>();
  for (const { id, curl = '' } of rows) {
    const firstId = firstIds.get(curl);
    if (firstId !== undefined) repeated.set(id, firstId);
    else if (curl !== '') firstIds.set(curl, id);
  }
  return repeated;
}

/** Names a verdict for people: "not applicable". */
export const verdictName = (verdict: string): string => verdict.replaceAll('_', ' ');

/** Lists ids and repeats each area once: "CHAT-040 041 USERS-080". */
export function shortList(ids: readonly string[]): string {
  return ids
    .map((id, index) => {
      const [area, number = id] = id.split('-');
      return area === ids[index - 1]?.split('-')[0] ? number : id;
    })
    .join(' ');
}

/** Returns what a run tried as names and texts: positions and kinds, and the largest accepted bodies. */
export function triedRows({ tried }: CheckReport): [string, string][] {
  if (!tried) return [];
  const sizes = Object.entries(tried.largestAcceptedBytes);
  return [
    ...tried.texts.map(({ area, positions, kinds }): [string, string] => [
      `${area}: ${formatList(positions)}`,
      formatList(kinds),
    ]),
    ...sizes.map(([area, bytes]): [string, string] => [
      `${area}: largest accepted body`,
      `${formatNumber(bytes)} bytes`,
    ]),
  ];
}
