import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { renderTime } from '../../../report-kit/time.ts';
import type { AgentReadiness } from '../../operations/agent-readiness.ts';
import type { ReadinessPart } from '../../operations/readiness-part.ts';
import type { Page } from '../../store/store.ts';
import { isFlawless } from '../frame/field-problems.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { renderAgentForm, type AgentDraft } from './agent-form.ts';

/** The content of the list of agents. */
export interface AgentList extends Page {
  query: URLSearchParams;
  agents: readonly AgentReadiness[];
  total: number;
  /** The typed values of a new agent. */
  draft: AgentDraft;
}

/** Renders the agents, each with what shows whether it is ready, and the form that adds one. */
export function renderAgentsPage(list: AgentList, context: PageContext): string {
  const { agents, total, draft } = list;
  const isOpen = total === 0 || !isFlawless(draft.problems);
  return renderServicePage(
    {
      title: 'Agents',
      main: html`<h1>Agents</h1>
        ${renderNotice(context, { deleted: 'The agent and its reports were deleted.' })}
        <p>
          An agent is a sandbox with its address and key. Scenarios run with it, and its reports
          show whether it is ready.
        </p>
        ${total === 0 ? html`<p>No agents yet. Add one to check its connection.</p>` : renderAgents(agents, context)}
        ${renderPages({ path: '/agents', ...list })}
        <details ${isOpen ? 'open' : ''}>
          <summary>Add an agent</summary>
          ${renderAgentForm(context, { draft, action: '/agents' })}
        </details>`,
    },
    context,
  );
}

function renderAgents(agents: readonly AgentReadiness[], context: PageContext): Html {
  const [first] = agents;
  return renderItems({
    label: 'Agents',
    items: agents,
    columns: [
      {
        name: 'agent',
        content: ({ agent: { id, name, url } }) =>
          html`<a href="${linkTo(context, `/agents/${id}`)}">${name}</a>
            <div class="soft">${url}</div>`,
      },
      {
        name: 'ready',
        content: ({ readiness }) => {
          const { mark, word } = READY[readiness];
          return renderVerdict(mark, word);
        },
      },
      ...(first?.parts ?? []).map(({ name }, index): ItemColumn<AgentReadiness> => ({
        name: name.toLowerCase(),
        content: ({ parts }) => {
          const part = parts[index];
          return part && html`${renderVerdict(part.standing, part.verdict)}${renderEnd(part)}`;
        },
      })),
    ],
  });
}

/** Names in a word whether an agent is ready, and the class that colors it. */
const READY = {
  yes: { word: 'yes', mark: 'passed' },
  no: { word: 'no', mark: 'failed' },
  unknown: { word: 'not judged yet', mark: 'undecided' },
} as const;

function renderEnd({ atMs }: ReadinessPart): Html | undefined {
  if (atMs === undefined) return undefined;
  return html`<div class="soft when">ended ${renderTime(atMs)}</div>`;
}
