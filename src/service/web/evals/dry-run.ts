import { isoTime } from '../../../platform/clock.ts';
import { cutText, formatCount, formatInstant } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderTranscript } from '../../../report-kit/transcript.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import type { DryRun } from '../../operations/dry-run.ts';
import { renderField, renderSelect } from '../frame/fields.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';
import { EXPORTERS_PATH } from '../overview/exporters.ts';

/** A stored session or conversation that a dry run can use. */
export interface TriableSession {
  id: string;
  name: string;
  /** What it is, such as `failed` or `not scored`. */
  state: string;
  atMs: number;
}

/** The part of the editor that tries the eval. */
export interface ShownTrial {
  recent: readonly TriableSession[];
  /** The chosen one. */
  chosen: string;
  /** The entered id. */
  entered: string;
  problem?: string | undefined;
  result?: DryRun | undefined;
}

const TURNS_MAX = 50;
const TEXT_LENGTH_MAX = 2_000;

/** Renders the choice of the conversation, within the form of the eval. */
export function renderTrial(
  { recent, chosen, entered, problem }: ShownTrial,
  context: PageContext,
): Html {
  return html`<fieldset>
    <legend>Dry run</legend>
    <p class="soft">
      A dry run scores the conversation with the eval above, saved or not, and stores nothing.
    </p>
    ${
      recent.length === 0
        ? html`<p>
            No conversation is stored yet.
            <a href="${linkTo(context, EXPORTERS_PATH)}">Send traces to this service</a>
          </p>`
        : renderSelect(
            { name: 'session', label: 'Conversation', value: chosen },
            recent.map(({ id, name, state, atMs }) => [
              id,
              `${cutText(name, 60)} · ${state} · ${formatInstant(isoTime(atMs))}`,
            ]),
          )
    }
    ${renderField({
      name: 'other',
      label: recent.length === 0 ? 'Id of a session or conversation' : 'Or the id of another one',
      value: entered,
      hint: 'A conversation id, a session id, or the address of the page of a session.',
      problem,
    })}
    <p>
      <button class="quiet" formaction="${linkTo(context, '/evals/try')}#dry-run">
        Score this conversation
      </button>
    </p>
  </fieldset>`;
}

/** Renders the result of a dry run: the outcome, why, and the turns that were scored. */
export function renderDryRun({ result }: Pick<ShownTrial, 'result'>): Html | undefined {
  if (!result) return undefined;
  const { outcome, reasoning, session } = result;
  const turns = session.turns.slice(0, TURNS_MAX).map((turn) => ({
    ...turn,
    userInput: cutText(turn.userInput, TEXT_LENGTH_MAX),
    agentResponse: cutText(turn.agentResponse, TEXT_LENGTH_MAX),
    toolCalls: turn.toolCalls.map((call) => ({
      name: call.name,
      arguments: cutValue(call.arguments),
      result: cutValue(call.result),
    })),
  }));
  const omitted = session.turns.length - turns.length;
  return html`<section id="dry-run" tabindex="-1" aria-labelledby="dry-run-title">
    <h2 id="dry-run-title">Result of the dry run</h2>
    <p role="status">
      ${renderVerdict(outcome)} ${session.sourceSessionId ?? session.scenario ?? session.sessionId}
    </p>
    <p>${reasoning}</p>
    <p class="soft">Nothing was stored.</p>
    ${renderTranscript(turns)}
    ${omitted !== 0 && html`<p class="soft">${formatCount(omitted, 'more turn')} not shown.</p>`}
  </section>`;
}

/** Cuts a value of a tool call, so that the page stays small. */
function cutValue(value: unknown): unknown {
  if (value === null || value === undefined) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return cutText(text, TEXT_LENGTH_MAX);
}

/** CSS rules of the dry run. */
export const TRIAL_CSS = `
fieldset { margin-top: 1.5rem; }
`;
