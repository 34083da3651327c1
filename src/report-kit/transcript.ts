import { cutText, formatDuration, formatNumber } from './format.ts';
import { html, Html } from './html.ts';

/** A turn of a conversation, as a page shows it. */
export interface ShownTurn {
  /** 1 for the first turn; undefined for a late turn without a number. */
  sequence: number | undefined;
  /** Its line of the scenario; shown if it is not the number of the turn. */
  scenarioLine?: number | undefined;
  userInput: string;
  /** Why a simulated user said it. */
  userReason?: string | undefined;
  agentResponse: string;
  latencyMs?: number | undefined;
  /** Distinct models in the order of use. */
  models?: readonly string[];
  inputTokens?: number;
  outputTokens?: number;
  failed?: boolean;
  /** Whether it arrived after the close of the conversation, all or in part. */
  late?: 'all' | 'part' | undefined;
  /** The arguments and the result are null or undefined if they were not recorded. */
  toolCalls?: readonly { name: string; arguments?: unknown; result?: unknown }[];
  /** The evaluation hints of the sandbox (spec 2.8). */
  evaluationMetadata?: object | undefined;
}

/** A place in a transcript that decided the outcome of an eval. */
export interface TurnMark {
  turn: number;
  part: 'turn' | 'user' | 'agent' | 'tool_call' | 'latency' | 'evaluation_metadata';
  /** Index of the tool call in the turn. */
  call?: number;
  /** The text in the line, in UTF-16 code units; without it, the whole line. */
  start?: number;
  end?: number;
  outcome: 'pass' | 'fail';
  /** The name of the eval. */
  label: string;
  /** Link to the eval on the page. */
  href: string;
}

/** A part of a text, in UTF-16 code units. */
export interface TextRange {
  start: number;
  end: number;
}

export interface TranscriptOptions {
  /** Gives each turn the id `turn-N`. Set it if the page has one transcript. */
  hasAnchors?: boolean;
  marks?: readonly TurnMark[];
  /** The most characters of one text (default: no limit). */
  textCharsMax?: number;
  /** The places of a line that differ from a transcript next to this one, by turn and side. */
  findChanges?: (sequence: number, side: 'user' | 'agent') => readonly TextRange[];
  /** The first turn that differs from a transcript next to this one; 0 for none. */
  differingTurn?: number;
}

/** Renders the turns of a session as a chat, with latencies and tool calls. */
export function renderTranscript(
  turns: readonly ShownTurn[],
  options: TranscriptOptions = {},
): Html {
  const { hasAnchors = false, marks = [], textCharsMax = Infinity, differingTurn = 0 } = options;
  const { findChanges = () => [] } = options;
  if (turns.length === 0) return html`<p class="soft">The transcript is empty.</p>`;
  const marksByTurn = Map.groupBy(marks, ({ turn }) => turn);
  return html`<ol class="transcript">
    ${turns.map((turn) => {
      const { sequence } = turn;
      const ofTurn = sequence === undefined ? [] : (marksByTurn.get(sequence) ?? []);
      const shown = { hasAnchors, marks: ofTurn, textCharsMax, differingTurn, findChanges };
      return renderTurn(turn, shown);
    })}
  </ol>`;
}

function renderTurn(
  turn: ShownTurn,
  { hasAnchors, marks, textCharsMax, differingTurn, findChanges }: Required<TranscriptOptions>,
): Html {
  const { sequence, userInput, userReason, agentResponse, toolCalls = [] } = turn;
  const { scenarioLine = sequence } = turn;
  const of = (part: TurnMark['part']): TurnMark[] => marks.filter((mark) => mark.part === part);
  const line = (side: 'user' | 'agent', text: string): Html | undefined =>
    renderLine(side, text, {
      marks: of(side),
      textCharsMax,
      changes: sequence === undefined ? [] : findChanges(sequence, side),
    });
  const anchor = hasAnchors && sequence !== undefined && html`id="turn-${sequence}"`;
  const differs = sequence === differingTurn;
  return html`<li class="turn${differs ? ' differs' : ''}" ${anchor}>
    <div class="about-turn">
      ${
        anchor
          ? html`<a class="soft" href="#turn-${sequence}">Turn ${sequence}</a>`
          : html`<span class="soft"
              >${sequence === undefined ? 'Late turn' : `Turn ${sequence}`}</span
            >`
      }
      ${
        scenarioLine !== sequence &&
        html`<span class="soft">line ${scenarioLine} of the scenario</span>`
      }
      ${turn.late && html`<b class="undecided">${LATE_NOTES[turn.late]}</b>`} ${renderChips(marks)}
      ${differs && html`<b>first difference</b>`}
    </div>
    ${line('user', userInput)}
    ${userReason !== undefined && userReason !== '' && html`<div class="soft why">${userReason}</div>`}
    ${toolCalls.map((call, index) => {
      const isMarked = of('tool_call').some((mark) => (mark.call ?? index) === index);
      return renderToolCall(call, { isMarked, textCharsMax });
    })}
    ${line('agent', agentResponse)} ${renderMetrics(turn, of('latency').length > 0)}
    ${
      turn.evaluationMetadata &&
      renderHints(turn.evaluationMetadata, of('evaluation_metadata').length > 0)
    }
  </li>`;
}

const LATE_NOTES = {
  all: 'Arrived after the close, not scored',
  part: 'Arrived in part after the close; that part is not scored',
} as const;

/** Renders a link to each eval that this turn is evidence for. */
function renderChips(marks: readonly TurnMark[]): Html[] {
  const byEval = new Map(marks.map((mark) => [mark.href, mark]));
  return [...byEval.values()].map(
    ({ href, label, outcome }) =>
      html`<a class="chip ${outcome}" href="${href}">${outcome}: ${label}</a>`,
  );
}

interface LineOptions {
  marks: readonly TurnMark[];
  changes: readonly TextRange[];
  textCharsMax: number;
}

function renderLine(
  side: 'user' | 'agent',
  text: string,
  { marks, changes, textCharsMax }: LineOptions,
): Html | undefined {
  if (text === '') return undefined;
  const shown = text.length > textCharsMax ? text.slice(0, textCharsMax).toWellFormed() : text;
  const cut = cutText(text, textCharsMax).slice(shown.length);
  return html`<div class="said ${side}">
    <span class="who">${side === 'user' ? 'User' : 'Agent'}</span>
    <span class="text">${markText(shown, marks, changes)}${cut}</span>
  </div>`;
}

/** Highlights the places of the marks in a text, and what changed. */
function markText(text: string, marks: readonly TurnMark[], changes: readonly TextRange[]): Html {
  const places = marks.flatMap((mark) => {
    const { start = 0, end = text.length } = mark;
    return start < Math.min(end, text.length) ? [{ ...mark, start, end }] : [];
  });
  const ranges = [...places, ...changes];
  if (ranges.length === 0) return html`${text}`;
  const bounds = [...new Set([0, text.length, ...ranges.flatMap(({ start, end }) => [start, end])])]
    .filter((at) => at <= text.length)
    .sort((left, right) => left - right);
  const pieces = bounds.slice(1).map((end, index) => {
    const start = bounds[index] ?? 0;
    const piece = text.slice(start, end);
    const here = places.filter((place) => place.start <= start && place.end >= end);
    if (here.length === 0) {
      const isChanged = changes.some((range) => range.start <= start && range.end >= end);
      return (isChanged ? html`<mark class="changed">${piece}</mark>` : html`${piece}`).text;
    }
    const outcome = here.some((place) => place.outcome === 'fail') ? 'fail' : 'pass';
    const title = here.map(({ label }) => label).join(', ');
    return html`<mark class="${outcome}" title="${title}">${piece}</mark>`.text;
  });
  return new Html(pieces.join(''));
}

/** The numbers of a turn, below the line of the agent. */
function renderMetrics(turn: ShownTurn, isMarked: boolean): Html | undefined {
  const { latencyMs, models = [], inputTokens = 0, outputTokens = 0, failed = false } = turn;
  const parts = [
    ...(latencyMs === undefined ? [] : [formatDuration(latencyMs)]),
    ...models,
    ...(inputTokens + outputTokens === 0
      ? []
      : [`${formatNumber(inputTokens)} tokens in, ${formatNumber(outputTokens)} out`]),
    ...(failed ? ['failed'] : []),
  ];
  if (parts.length === 0) return undefined;
  const className = `soft metrics${failed ? ' fail' : ''}`;
  const text = parts.join(' · ');
  return html`<div class="${className}">${isMarked ? html`<mark>${text}</mark>` : text}</div>`;
}

function renderToolCall(
  call: { name: string; arguments?: unknown; result?: unknown },
  { isMarked, textCharsMax }: { isMarked: boolean; textCharsMax: number },
): Html {
  const name = isMarked ? html`<mark>${call.name}</mark>` : html`${call.name}`;
  const parts = [call.arguments, call.result].map((part) => formatJson(part ?? ''));
  const isShort = parts.join('').length <= SHORT_CALL_CHARS_MAX;
  return html`<details ${isMarked || isShort ? 'open' : ''}>
    <summary>${name}</summary>
    ${renderToolPart('arguments', call.arguments, textCharsMax)}
    ${renderToolPart('result', call.result, textCharsMax)}
  </details>`;
}

/** Calls with longer arguments and results are folded. */
const SHORT_CALL_CHARS_MAX = 160;

/** Renders the arguments or the result. Null means that the instrumentation did not record it. */
function renderToolPart(part: 'arguments' | 'result', value: unknown, charsMax: number): Html {
  if (value === null || value === undefined) {
    return html`<p class="soft">no ${part} recorded</p>`;
  }
  return html`<div class="soft part">${part}</div>
    <pre>${cutText(formatJson(value), charsMax)}</pre>`;
}

function renderHints(hints: object, isMarked: boolean): Html {
  const name = 'evaluation metadata';
  return html`<details ${isMarked ? 'open' : ''}>
    <summary>${isMarked ? html`<mark>${name}</mark>` : name}</summary>
    <pre>${formatJson(hints)}</pre>
  </details>`;
}

function formatJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** CSS rules of transcripts. */
export const TRANSCRIPT_CSS = `
.transcript { list-style: none; margin: 0; max-width: 50rem; padding: 0; }
li.turn { border-top: 1px solid var(--line); padding: 0.6rem 0; }
li.turn:target { background: var(--target); }
.about-turn { align-items: center; display: flex; flex-wrap: wrap; gap: 0.25rem 0.5rem; }
.chip { border: 1px solid currentColor; border-radius: 1rem; font-size: 0.8125rem;
  padding: 0 0.6rem; text-decoration: none; }
.chip.pass { color: var(--good); } .chip.fail { color: var(--bad); }
.chip:hover { text-decoration: underline; }
.said { background: var(--box); border: 1px solid var(--line); border-radius: 0.75rem;
  margin: 0.3rem 0; max-width: 88%; padding: 0.3rem 0.75rem 0.4rem; width: fit-content; }
.said .text { white-space: pre-wrap; }
.said .who { color: var(--soft-ink); display: block; font-size: 0.75rem; }
.user { border-bottom-left-radius: 0.15rem; margin-right: auto; }
.agent { border-bottom-right-radius: 0.15rem; margin-left: auto; }
.metrics { font-variant-numeric: tabular-nums; text-align: right; }
mark { background: var(--target); border-bottom: 2px solid var(--warn); color: var(--ink); }
mark.pass, mark.fail { color: var(--ink); }
mark.pass { border-color: var(--good); } mark.fail { border-color: var(--bad); }
.turn details { margin: 0.3rem 0 0.3rem 12%; }
.turn .part { font-size: 0.75rem; }
.turn details summary { font: 0.875rem/1.5 ui-monospace, monospace; }
@media print { .said { break-inside: avoid; } }
`;
