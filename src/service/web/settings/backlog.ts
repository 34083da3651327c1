import { formatCount, formatList, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { BacklogProgress } from '../../operations/backlog.ts';
import type { LiveContent } from '../frame/live.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

/** What the settings page shows about the backlog. */
export interface ShownBacklog {
  unscoredConversations: number;
  hasEvals: boolean;
  /** The newest time that the backlog was queued. */
  progress: BacklogProgress | undefined;
}

/** Path of the part of the settings page that shows the backlog. */
export const BACKLOG_LIVE_PATH = '/settings/backlog/live';

const RUNS_MAX = 10;

/** Renders the conversations that were closed without evals, and how far their scoring is. */
export function renderBacklog(shown: ShownBacklog, context: PageContext): LiveContent {
  const { unscoredConversations: left, progress } = shown;
  if (progress?.isRunning === true) {
    const content = html`<div class="remark">
      <p>
        <b>The backlog is being queued.</b> ${formatCount(progress.conversations, 'conversation')}
        queued, ${formatNumber(left)} to go. You can leave this page.
      </p>
      <progress
        max="${progress.conversations + left}"
        value="${progress.conversations}"
        aria-label="Queued conversations"
      ></progress>
    </div>`;
    return { content, isFinal: false };
  }
  return {
    content: html`${progress && renderEnd(progress, context)} ${left > 0 && renderLeft(shown)}`,
    isFinal: true,
  };
}

function renderEnd(progress: BacklogProgress, context: PageContext): Html | undefined {
  const { conversations, evaluations_queued: queued, runs, problem } = progress;
  return html`${
    conversations !== 0 &&
    html`<p>
      ${formatCount(conversations, 'conversation')} of the backlog
      ${conversations === 1 ? 'was' : 'were'} queued, with ${formatCount(queued, 'eval')}, in
      <a href="${linkTo(context, '/runs', { kind: 'production' })}">${formatList(runs, RUNS_MAX)}</a
      >.
    </p>`
  }
  ${problem !== undefined && html`<p class="remark">Queueing the backlog stopped: ${problem}</p>`}`;
}

function renderLeft({ unscoredConversations: count, hasEvals }: ShownBacklog): Html {
  return html`<div class="remark">
    <p>
      <b>${formatCount(count, 'closed conversation')}</b> ${count === 1 ? 'is' : 'are'} not scored,
      because no evals were set at that time.
      ${hasEvals ? 'Score the backlog with the evals below.' : 'To score the backlog, pick evals below first.'}
    </p>
    <p class="soft">
      Closing a conversation responds with <code>evaluating</code> in any case; without evals,
      <code>evaluations_queued</code> is 0. Each conversation joins the run of its own day.
    </p>
  </div>`;
}
