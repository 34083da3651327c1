/** The counts in hand-written pages. `npm run docs` writes them. */
import type * as conformanceModule from '../../conformance/index.ts';

type Conformance = typeof conformanceModule;

/** The text around a count, with `#` in its place, and the count. */
type Phrases = readonly (readonly [phrase: string, count: number])[];

/** The verdicts other than a pass in the sample of a check, which is of the mutant `chat/content-null`. */
const sample = { failed: 1, notes: 5, notApplicable: 3, notObserved: 9 };

/** Returns the phrases with counts of each page: what a check sends, and what a self-test proves. */
export async function findCounts({
  planCheck,
  countUnkilled,
  requirementIds,
}: Conformance): Promise<Readonly<Record<string, Phrases>>> {
  const { requests, modelCalls, users, calls } = planCheck({});
  const chatRequests = planCheck({ areas: ['chat'] }).modelCalls;
  const applicable = requirementIds.length - sample.notApplicable;
  const judged = applicable - sample.notObserved;
  const passed = judged - sample.failed - sample.notes;
  return {
    'README.md': [
      ['# pass, 1 fail, 5 note', passed],
      ['A check sends # requests', requests],
      ['creates # users', users],
      ['places # calls', calls],
      ['# of the requests reach the model', modelCalls],
    ],
    'docs/check.md': [
      ['# pass, 1 fail, 5 note', passed],
      ['Judged # of', judged],
      ['of # requirements that apply', applicable],
      ['sends # requests', requests],
      ['reaches a model # times', modelCalls],
      ['places # calls', calls],
      ['creates # users', users],
      ['# of them reach a model', modelCalls],
      ['# chat requests', chatRequests],
      ['never more than #', chatRequests],
      ['# requests are calls', calls],
    ],
    'docs/ci.md': [['A check sends # requests', modelCalls]],
    'docs/trust.md': [
      ['# requirements have no mutant in this run', await countUnkilled({ only: 'chat/content' })],
    ],
    'shipped/skills/sandbox-kit/SKILL.md': [['reply at least # times', modelCalls]],
  };
}

/**
 * Writes counts into a page, at each occurrence of their phrases.
 *
 * @throws {Error} if a phrase is not in the page.
 */
export function writeCounts(page: string, text: string, phrases: Phrases): string {
  return phrases.reduce((written, [phrase, count]) => {
    const [before = '', after = ''] = phrase.split('#').map(toPattern);
    const pattern = new RegExp(`(?<=${before})\\d+(?=${after})`, 'g');
    if (!pattern.test(written)) {
      throw new Error(`${page} has no text ${JSON.stringify(phrase)}: see documented-counts.ts.`);
    }
    return written.replaceAll(pattern, String(count));
  }, text);
}

/** Matches the words of a phrase, even if a line break separates them. */
const toPattern = (words: string): string => words.replaceAll(' ', '\\s+');
