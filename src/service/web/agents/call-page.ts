import { renderItems } from '../../../report-kit/table.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { StoredAgent } from '../../store/store.ts';
import { renderField } from '../frame/fields.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { CONVERSATION_FIELD, pathOfPlayground } from './playground-page.ts';

/** Returns the path of the page where a person calls an agent. */
export const pathOfCall = (agentId: string): string => `/agents/${agentId}/call`;

/** Renders the page where a person calls an agent. The call itself needs the script of the page. */
export function renderCallPage(agent: StoredAgent, context: PageContext): string {
  const title = `Call ${agent.name}`;
  return renderServicePage(
    {
      title,
      section: 'Agents',
      css: CSS,
      placesCalls: true,
      main: html`<p><a href="${linkTo(context, `/agents/${agent.id}`)}">${agent.name}</a></p>
        <h1>${title}</h1>
        <p class="soft">
          Your browser and the agent exchange the audio directly; the service passes the messages of
          the call on, with the agent's key. Each turn reaches the models of the agent.
        </p>
        <noscript><p>A call needs JavaScript and a microphone.</p></noscript>
        ${
          context.token === undefined
            ? // For readers who may not change anything, it says how to become one who may.
              renderForm(context, { action: pathOfPlayground(agent.id), body: html`` })
            : renderCall(agent, context.token, context)
        }`,
    },
    context,
  );
}

const renderCall = (agent: StoredAgent, token: string, context: PageContext): Html =>
  html`<div
    class="call form"
    data-call="${linkTo(context, `${pathOfCall(agent.id)}/socket`)}"
    data-token="${token}"
  >
    ${renderField(
      { name: 'user_id', label: 'User id', value: '', hint: 'Optional: a user of the sandbox.' },
      html`data-part="user"`,
    )}
    <p>
      <button type="button" data-part="call">Call</button>
      <button type="button" data-part="hang-up" hidden>Hang up</button>
    </p>
    <p role="status" data-part="status"></p>
    <figure data-part="lanes-frame" hidden>
      <canvas data-part="lanes" width="600" height="120" role="img" aria-label="Levels"></canvas>
      <figcaption class="soft">The last 15 s: you above, the agent below.</figcaption>
    </figure>
    <p class="remark" data-part="unfit" hidden>
      The agent reports replies that do not fit what you said, because it did not understand it. The
      reference agent of sandbox-kit recognizes only its own recordings, and replies to other speech
      with one of them.
    </p>
    <div data-part="turns" hidden>
      ${renderItems({ label: 'Turns of the call', items: [], columns: TURN_COLUMNS })}
    </div>
    <div data-part="score" hidden>
      ${renderForm(context, {
        action: `${pathOfPlayground(agent.id)}/score`,
        body: html`<input type="hidden" name="${CONVERSATION_FIELD}" data-part="conversation" />
          <p>
            <button class="quiet">Store and score this call</button>
            <span class="soft">
              The evals chosen in the <a href="${linkTo(context, '/settings')}">settings</a> score
              its transcript. Its page can make a scenario from it.
            </span>
          </p>`,
      })}
    </div>
  </div>`;

/** The columns of the turns, whose rows the script of the page adds. */
const TURN_COLUMNS = ['you', 'agent', 'response latency'].map((name) => ({
  name,
  content: () => undefined,
}));

const CSS = `
.call canvas { background: var(--box); border: 1px solid var(--line); border-radius: 0.4rem;
  display: block; height: 7.5rem; max-width: 100%; width: 37.5rem; }
.call figure { margin: 0.5rem 0; }
.call [hidden] { display: none; }
`;
