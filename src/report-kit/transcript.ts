import { formatDuration, formatNumber } from './format.ts';
import { html, type Html } from './html.ts';

/** A turn of a conversation, as a page shows it. */
export interface ShownTurn {
  /** 1 for the first turn. */
  sequence: number;
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
  /** The arguments and the result are null or undefined if they were not recorded. */
  toolCalls?: readonly { name: string; arguments?: unknown; result?: unknown }[];
  /** The evaluation hints of the sandbox (spec 2.8). */
  evaluationMetadata?: object | undefined;
}

/** Renders the turns of a session as a chat, with latencies and tool calls. */
export function renderTranscript(turns: readonly ShownTurn[]): Html {
  if (turns.length === 0) return html`<p class="soft">The transcript is empty.</p>`;
  return html`<ol class="transcript">
    ${turns.map(renderTurn)}
  </ol>`;
}

function renderTurn(turn: ShownTurn): Html {
  const { latencyMs, toolCalls = [], evaluationMetadata } = turn;
  const { inputTokens = 0, outputTokens = 0 } = turn;
  const marks = [
    `Turn ${turn.sequence}`,
    ...(latencyMs === undefined ? [] : [formatDuration(latencyMs)]),
    ...(turn.models ?? []),
    ...(inputTokens + outputTokens === 0
      ? []
      : [`${formatNumber(inputTokens)} tokens in, ${formatNumber(outputTokens)} out`]),
    ...(turn.failed ? ['failed'] : []),
  ];
  return html`<li class="turn">
    <span class="soft">${marks.join(' · ')}</span>
    ${turn.userInput === '' ? '' : html`<div class="said user">${turn.userInput}</div>`}
    ${turn.userReason === undefined ? '' : html`<div class="soft">${turn.userReason}</div>`}
    ${toolCalls.map(renderToolCall)}
    ${turn.agentResponse === '' ? '' : html`<div class="said agent">${turn.agentResponse}</div>`}
    ${evaluationMetadata ? renderHints(evaluationMetadata) : ''}
  </li>`;
}

function renderToolCall(call: { name: string; arguments?: unknown; result?: unknown }): Html {
  return html`<details>
    <summary>${call.name}</summary>
    ${renderToolPart('arguments', call.arguments)} ${renderToolPart('result', call.result)}
  </details>`;
}

/** Renders the arguments or the result. Null means that the instrumentation did not record it. */
function renderToolPart(part: 'arguments' | 'result', value: unknown): Html {
  if (value === null || value === undefined) {
    return html`<p class="soft">no ${part} recorded</p>`;
  }
  return html`<pre>${formatJson(value)}</pre>`;
}

function renderHints(hints: object): Html {
  return html`<details>
    <summary>evaluation metadata</summary>
    <pre>${formatJson(hints)}</pre>
  </details>`;
}

function formatJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** CSS rules of transcripts. */
export const TRANSCRIPT_CSS = `
.transcript { list-style: none; margin: 0; padding: 0; }
li.turn { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.said { background: var(--box); border-radius: 0.5rem; margin: 0.3rem 0; padding: 0.5rem 0.75rem;
  white-space: pre-wrap; }
.user { margin-right: 12%; } .agent { margin-left: 12%; }
.turn details { margin: 0.3rem 0 0.3rem 12%; }
`;
