import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { createTimeColumn, formatMinute } from '../../../report-kit/time.ts';
import type { Page, WaitingConversation } from '../../store/store.ts';
import { linkTo, renderPages, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderSessionTabs } from './session-tabs.ts';
import { isMessageTag, isSdkTag, renderTag } from './tags.ts';

/** A page of conversations without a session. */
export interface WaitingList extends Page {
  state: 'open' | 'unscored';
  query: URLSearchParams;
  conversations: readonly WaitingConversation[];
  total: number;
}

const TITLES = { open: 'Open conversations', unscored: 'Conversations that are not scored' };

/** Renders the conversations that are open, or closed without a score. */
export function renderWaitingPage(list: WaitingList, context: PageContext): string {
  const { state, conversations, total } = list;
  const title = TITLES[state];
  return renderServicePage(
    {
      title,
      section: 'Sessions',
      main: html`<h1>${title}</h1>
        ${renderSessionTabs(context, state)} ${renderExplanation(state, context)}
        <p>${formatCount(total, 'conversation')}, newest first.</p>
        ${conversations.length !== 0 && renderConversations(list, context)}
        ${renderPages({ path: '/sessions', ...list })}`,
    },
    context,
  );
}

function renderExplanation(state: WaitingList['state'], context: PageContext): Html {
  if (state === 'open') {
    return html`<p>
      Evals score a conversation after it is closed:
      <code>POST /v1/sessions/CONVERSATION_ID/end</code> closes it immediately; otherwise the
      service closes it 24 hours after its last span.
    </p>`;
  }
  return html`<p>
    No evals were chosen when these conversations were closed. Choose some in the
    <a href="${linkTo(context, '/settings')}">settings</a>, and score the backlog there.
  </p>`;
}

function renderConversations({ state, conversations }: WaitingList, context: PageContext): Html {
  const linkToPage = ({ conversationId }: WaitingConversation): Html =>
    html`<a href="${linkToConversation(conversationId, context)}">${conversationId}</a>`;
  return renderItems({
    label: 'Conversations',
    items: conversations,
    columns: [
      { name: 'conversation', content: linkToPage },
      { name: 'spans', isNumber: true, content: ({ spans }) => formatNumber(spans) },
      createTimeColumn<WaitingConversation>({
        name: 'last span received',
        msOf: ({ lastReceivedAtMs }) => lastReceivedAtMs,
      }),
      {
        name: 'tags',
        content: ({ tags }) =>
          tags.filter((tag) => !isMessageTag(tag) && !isSdkTag(tag)).map(renderTag),
      },
      {
        name: 'why it is not scored',
        content: (conversation) => describeWait(state, conversation),
      },
    ],
  });
}

function describeWait(state: WaitingList['state'], { closedAtMs }: WaitingConversation): string {
  if (state === 'open') return 'It is open.';
  const closed = closedAtMs === undefined ? '' : ` at ${formatMinute(closedAtMs)}`;
  return `No evals were chosen when it was closed${closed}.`;
}

/** Returns the link to the page of a conversation without a session. */
export const linkToConversation = (id: string, context: PageContext): string =>
  linkTo(context, '/conversation', { id });
