import { isoTime } from '../../../platform/clock.ts';
import { renderFactList, type Fact } from '../../../report-kit/fact-list.ts';
import { formatCount, formatInstant, formatList } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { Transcript } from '../../sessions/transcripts.ts';
import type { Conversation, StoredSpan } from '../../store/store.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderRemovedSpans } from './removed-spans.ts';
import { renderNextStep } from './scenario-form.ts';
import { renderSpans } from './span-list.ts';
import { renderTag, renderTags, type ShownTag } from './tags.ts';
import { renderTurns, type TurnPage } from './turn-pages.ts';
import { linkToConversation } from './waiting-page.ts';

/** The content of the page of a conversation without a session. */
export interface ConversationPage extends TurnPage {
  conversation: Conversation;
  /** The names of the evals that would score it. */
  liveEvals: readonly string[];
  transcript: Transcript;
  tags: readonly ShownTag[];
  /** The first spans. */
  spans: readonly StoredSpan[];
}

/** Renders the page of a conversation that is not scored: its transcript so far, and why. */
export function renderConversationPage(content: ConversationPage, context: PageContext): string {
  const { conversation, transcript, tags, spans } = content;
  const { conversationId: id, state, run, lastReceivedAtMs, closedAtMs } = conversation;
  const self = linkToConversation(id, context);
  const facts: Fact[] = [
    ['State', state],
    ['Run', run],
    ['Spans', String(conversation.spanCount)],
    ['Last span received', formatInstant(isoTime(lastReceivedAtMs))],
    ['Closed', closedAtMs === undefined ? undefined : formatInstant(isoTime(closedAtMs))],
  ];
  const canRepeat = transcript.scored.some(({ userInput }) => userInput !== '');
  const kind = state === 'open' ? 'open' : 'unscored';
  return renderServicePage(
    {
      title: id,
      section: 'Sessions',
      main: html`<nav class="path" aria-label="List">
          <a href="${linkTo(context, '/sessions', { kind })}">Back to the list</a>
        </nav>
        <h1>${id}</h1>
        ${renderRemark(content, context)} ${renderFactList(facts)}
        <h2 id="transcript">${state === 'open' ? 'Transcript so far' : 'Transcript'}</h2>
        ${renderRemovedSpans(conversation.spansRemoved) ?? renderTurns(self, content, transcript.shown)}
        ${renderTags(tags, renderTag)} ${renderSpans(spans, conversation.spanCount)}
        ${canRepeat && renderNextStep({ id, kind: 'conversation', storedId: undefined }, context)}`,
    },
    context,
  );
}

/** The most names of evals in a sentence. */
const EVALS_LISTED_MAX = 5;

/** Path of the form that closes a conversation. */
export const CLOSE_PATH = '/conversation/close';

/** Renders why there is no session, unless it can't have one anymore. */
function renderRemark(content: ConversationPage, context: PageContext): Html | undefined {
  const { conversation } = content;
  if (conversation.state === 'closed' && conversation.spansRemoved) return undefined;
  return html`<div class="remark">${explain(content, context)}</div>`;
}

/** Explains why the conversation has no session, and what to do. */
function explain({ conversation, liveEvals }: ConversationPage, context: PageContext): Html {
  const { conversationId, state } = conversation;
  if (state === 'open') {
    const hasEvals = liveEvals.length > 0;
    const path = `/v1/sessions/${encodeURIComponent(conversationId)}/end`;
    const body = html`<input type="hidden" name="id" value="${conversationId}" />
      <button>${hasEvals ? 'Close and score' : 'Close without scoring'}</button>`;
    const settings = html`<a href="${linkTo(context, '/settings')}">settings</a>`;
    return html`<p>
        This conversation is not scored, because it is open.
        ${
          hasEvals
            ? html`After it is closed, ${formatCount(liveEvals.length, 'eval')} of the ${settings}
              score it: ${formatList(liveEvals, EVALS_LISTED_MAX)}.`
            : html`No evals are chosen, so closing it scores nothing. Choose some in the ${settings}
              first.`
        }
        To close it, use the button, send <code>POST ${path}</code>, or wait until 24 hours have
        passed since its last span.
      </p>
      ${renderForm(context, { action: CLOSE_PATH, body })}`;
  }
  return html`<p>
    This conversation is not scored, because no evals were chosen when it was closed. Choose some in
    the <a href="${linkTo(context, '/settings')}">settings</a>, and score the backlog there.
  </p>`;
}
