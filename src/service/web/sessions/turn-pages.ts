import { formatCount } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderTranscript, type ShownTurn, type TurnMark } from '../../../report-kit/transcript.ts';

/** The part of a long transcript that a page shows. */
export interface TurnPage {
  /** The number of turns before the first one shown. */
  skippedTurns: number;
}

const TURNS_MAX = 100;
const PARAMETER = 'turns_after';

/** The most characters of all texts of a page together, and of one text. */
const CHARS_MAX = 80_000;
const TEXT_CHARS_MIN = 200;
const TEXT_CHARS_MAX = 10_000;

/** Reads which turns to show. */
export function readTurnPage(query: URLSearchParams): TurnPage {
  const after = query.get(PARAMETER) ?? '';
  return { skippedTurns: /^\d{1,9}$/.test(after) ? Number(after) : 0 };
}

/** Renders a part of a transcript, with links to the other parts. */
export function renderTurns(
  self: string,
  { skippedTurns }: TurnPage,
  turns: readonly ShownTurn[],
  marks: readonly TurnMark[] = [],
): Html {
  const shown = turns.slice(skippedTurns, skippedTurns + TURNS_MAX);
  const texts = shown.reduce((sum, { toolCalls = [] }) => sum + 2 + 2 * toolCalls.length, 1);
  const fair = Math.floor(CHARS_MAX / texts);
  const textCharsMax = Math.min(TEXT_CHARS_MAX, Math.max(TEXT_CHARS_MIN, fair));
  return html`${renderTranscript(shown, { hasAnchors: true, marks, textCharsMax })}
  ${renderPages(self, skippedTurns, turns)}`;
}

function renderPages(self: string, skipped: number, turns: readonly ShownTurn[]): Html | undefined {
  const { length: total } = turns;
  if (total <= TURNS_MAX && skipped === 0) return undefined;
  const last = Math.min(skipped + TURNS_MAX, total);
  const linkAfter = (after: number, name: string): Html =>
    html`<a href="${addParameter(self, after)}#transcript">${name}</a>`;
  return html`<p class="pages">
    ${skipped > 0 && linkAfter(Math.max(0, skipped - TURNS_MAX), 'Earlier turns')}
    ${describePart(turns, skipped, last)} ${last < total && linkAfter(last, 'Later turns')}
  </p>`;
}

/** Describes which turns a page shows, by their numbers. */
function describePart(turns: readonly ShownTurn[], skipped: number, last: number): string {
  const listNumbers = (some: readonly ShownTurn[]): number[] =>
    some.flatMap(({ sequence }) => sequence ?? []);
  const numbers = listNumbers(turns.slice(skipped, last));
  const count = listNumbers(turns).length;
  const range = numbers.length === 0 ? '' : `Turns ${numbers[0]} to ${numbers.at(-1)} of `;
  const late = turns.length - count;
  const suffix = late === 0 ? '' : ` and ${formatCount(late, 'late turn')}`;
  return `${range}${formatCount(count, 'turn')}${suffix}`;
}

/**
 * Returns the link to a turn, with its page of the transcript if that is another one; undefined if the
 * transcript does not contain the turn.
 */
export function linkToTurn(
  self: string,
  { skippedTurns }: TurnPage,
  turns: readonly ShownTurn[],
  sequence: number,
): string | undefined {
  const at = turns.findIndex((turn) => turn.sequence === sequence);
  if (at < 0) return undefined;
  const first = Math.floor(at / TURNS_MAX) * TURNS_MAX;
  const page = first === skippedTurns ? '' : addParameter(self, first);
  return `${page}#turn-${sequence}`;
}

const addParameter = (self: string, after: number): string => `${self}&${PARAMETER}=${after}`;
