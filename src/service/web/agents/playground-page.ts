import { html, withCode, type Html } from '../../../report-kit/html.ts';
import { renderTranscript, type ShownTurn } from '../../../report-kit/transcript.ts';
import { isObject } from '../../../platform/json.ts';
import { formatChatCommand } from '../../../report-kit/chat-command.ts';
import {
  beginConversation,
  makeChatRequest,
  PLAYGROUND_TURNS_MAX,
  type PlaygroundConversation,
  type PlaygroundTurn,
} from '../../operations/playground.ts';
import type { ReplyFinding } from '../../operations/kit-functions.ts';
import type { StoredAgent } from '../../store/store.ts';
import { renderField, renderTextArea } from '../frame/fields.ts';
import { readText, renderForm } from '../frame/forms.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { linkToRequirement } from '../requirements/requirement-links.ts';

/** Returns the path of the conversation with an agent. */
export const pathOfPlayground = (agentId: string): string => `/agents/${agentId}/chat`;

/** The field with a conversation that its page keeps. */
export const CONVERSATION_FIELD = 'conversation';
const LINE_CHARS_MAX = 100_000;
/** The most characters of a conversation that a form carries. */
const CONVERSATION_CHARS_MAX = 4_000_000;
/** The most characters of a response that the page shows. */
const RESPONSE_CHARS_MAX = 20_000;

/** Renders a conversation of the reader with an agent. */
export function renderPlaygroundPage(
  { agent, conversation, line = '', problem }: PlaygroundContent,
  context: PageContext,
): string {
  const { turns, userId } = conversation;
  const title = `Chat with ${agent.name}`;
  const path = pathOfPlayground(agent.id);
  const hidden = html`<input
    type="hidden"
    name="${CONVERSATION_FIELD}"
    value="${JSON.stringify(conversation)}"
  />`;
  return renderServicePage(
    {
      title,
      section: 'Agents',
      css: CSS,
      main: html`<p><a href="${linkTo(context, `/agents/${agent.id}`)}">${agent.name}</a></p>
        <h1>${title}</h1>
        <p class="soft">${agent.url}</p>
        ${
          turns.length === 0
            ? html`<p>Each message is one request, which reaches the model of the agent.</p>`
            : renderTurns(agent, conversation, context)
        }
        ${renderForm(context, {
          action: path,
          body: html`${hidden}
            ${renderTextArea(
              {
                name: 'line',
                label: 'Message',
                rows: 3,
                value: line,
                problem,
                hint: html`<span data-part="enter-hint" hidden
                  >Enter sends it. Shift+Enter begins a new line.</span
                >`,
              },
              html`data-enter-sends ${problem === undefined ? 'autofocus' : ''}`,
            )}
            ${
              turns.length === 0 &&
              renderField({
                name: 'user_id',
                label: 'User id',
                value: userId,
                hint: 'Optional: a user of the sandbox.',
              })
            }
            <p><button>Send</button></p>`,
        })}
        ${turns.some((turn) => turn.problem === undefined) && renderEnd(path, hidden, context)}`,
    },
    context,
  );
}

/** What the page of a conversation shows. */
export interface PlaygroundContent {
  agent: StoredAgent;
  conversation: PlaygroundConversation;
  /** What the reader typed. */
  line?: string | undefined;
  /** The problem with the text. */
  problem?: string | undefined;
}

/** Renders why a response is invalid. */
const renderFindings = (findings: readonly ReplyFinding[], context: PageContext): Html =>
  html`<div class="fail" role="alert">
    <p><b>This response is invalid.</b> A check of the agent fails because of it:</p>
    <ul>
      ${findings.map(
        ({ id, rule, pointer, expected, received }) =>
          html`<li>
            ${linkToRequirement(id, context)}: ${withCode(rule)} Expected ${withCode(expected)},
            received ${withCode(received)}${pointer !== '' && html` at <code>${pointer}</code>`}.
          </li>`,
      )}
    </ul>
  </div>`;

function renderTurns(
  agent: StoredAgent,
  conversation: PlaygroundConversation,
  context: PageContext,
): Html {
  const { turns } = conversation;
  return html`${turns.map((turn, index) => {
    const earlier = { ...conversation, turns: turns.slice(0, index) };
    const request = makeChatRequest(earlier, turn.userInput);
    const command = formatChatCommand({ url: agent.url, hasKey: agent.has_api_key }, request);
    const response = JSON.stringify(turn.response, null, 2) as string | undefined;
    return html`${renderTranscript([toShown(turn, index)])}
      ${turn.problem !== undefined && html`<p class="fail" role="alert">${withCode(turn.problem)}</p>`}
      ${turn.findings && renderFindings(turn.findings, context)}
      <details class="exchange">
        <summary>Request and response</summary>
        <pre>${JSON.stringify(request, null, 2)}</pre>
        ${response === undefined ? html`<p>There is no response in JSON.</p>` : html`<pre>${response.slice(0, RESPONSE_CHARS_MAX)}</pre>`}
        ${command !== undefined && html`<pre>${command}</pre>`}
      </details>`;
  })}`;
}

const toShown = (
  { userInput, agentResponse, toolCalls, evaluationMetadata, latencyMs, problem }: PlaygroundTurn,
  index: number,
): ShownTurn => ({
  sequence: index + 1,
  userInput,
  agentResponse,
  toolCalls,
  latencyMs,
  evaluationMetadata,
  failed: problem !== undefined,
});

/** Renders what ends a conversation. */
const renderEnd = (path: string, hidden: Html, context: PageContext): Html =>
  html`<div class="ends">
    ${renderForm(context, {
      action: `${path}/score`,
      body: html`${hidden}
        <p>
          <button class="quiet">Store and score this conversation</button>
          <span class="soft">
            The evals chosen in the <a href="${linkTo(context, '/settings')}">settings</a> score it.
            Its page can make a scenario from it.
          </span>
        </p>`,
    })}
    <p><a href="${linkTo(context, path)}">Begin another conversation</a></p>
  </div>`;

/** Reads the conversation and the line of a form. */
export function readPlayground(form: FormData): {
  conversation: PlaygroundConversation;
  line: string;
  problem: string | undefined;
} {
  const conversation = readConversation(readText(form, CONVERSATION_FIELD));
  const isNew = conversation.turns.length === 0;
  const userId = readText(form, 'user_id').trim();
  const line = readText(form, 'line');
  return {
    conversation: isNew ? { ...conversation, userId } : conversation,
    line,
    problem: findProblem(conversation, line),
  };
}

function findProblem({ turns }: PlaygroundConversation, line: string): string | undefined {
  if (line.trim() === '') return 'Enter a message.';
  if (line.length > LINE_CHARS_MAX) return `A message has at most ${LINE_CHARS_MAX} characters.`;
  return turns.length >= PLAYGROUND_TURNS_MAX
    ? `A conversation has at most ${PLAYGROUND_TURNS_MAX} turns. Begin another one.`
    : undefined;
}

/** Reads the conversation that a page has kept; a damaged one is a new one. */
function readConversation(text: string): PlaygroundConversation {
  const fresh = beginConversation();
  if (text.length > CONVERSATION_CHARS_MAX) return fresh;
  try {
    const value = JSON.parse(text) as unknown;
    return isConversation(value) ? value : fresh;
  } catch {
    return fresh;
  }
}

const isConversation = (value: unknown): value is PlaygroundConversation =>
  isObject(value) &&
  typeof value['sessionId'] === 'string' &&
  /^playground-[0-9a-f-]{36}$/.test(value['sessionId']) &&
  typeof value['userId'] === 'string' &&
  Array.isArray(value['turns']) &&
  value['turns'].length <= PLAYGROUND_TURNS_MAX &&
  value['turns'].every(isTurn);

const isTurn = (value: unknown): value is PlaygroundTurn =>
  isObject(value) &&
  typeof value['userInput'] === 'string' &&
  typeof value['agentResponse'] === 'string' &&
  ['number', 'undefined'].includes(typeof value['latencyMs']) &&
  ['string', 'undefined'].includes(typeof value['problem']) &&
  (value['findings'] === undefined || isFindings(value['findings'])) &&
  Array.isArray(value['toolCalls']) &&
  value['toolCalls'].every((call) => isObject(call) && typeof call['name'] === 'string');

const isFindings = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (finding) =>
      isObject(finding) &&
      ['id', 'rule', 'pointer', 'expected', 'received'].every(
        (name) => typeof finding[name] === 'string',
      ),
  );

const CSS = `
main > .exchange { border: 0; margin: 0 0 0.5rem; padding: 0; }
.ends { border-top: 1px solid var(--line); margin-top: 1rem; }
`;
