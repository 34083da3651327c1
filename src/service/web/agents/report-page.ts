import type { CheckReport, LoadReport } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import {
  cutText,
  formatCount,
  formatDuration,
  formatInstant,
  formatList,
  formatNumber,
} from '../../../report-kit/format.ts';
import { html, withCode, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { toVisible } from '../../../report-kit/printable.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { reportKindNames } from '../../operations/read-agent-report.ts';
import type { ConnectionReport } from '../../operations/kit-functions.ts';
import { findCure } from '../../operations/agents.ts';
import type { AgentReport, StoredAgent } from '../../store/store.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { linkToRequirement, withRequirementLinks } from '../requirements/requirement-links.ts';
import { renderAdvice } from './advice.ts';
import { targetColumns } from './target-columns.ts';

/** The most requirements, targets, causes, notes, or requests that a page shows. */
const ROWS_MAX = 100;
/** The most requirements with the same verdict in the list of all. */
const REQUIREMENTS_MAX = 500;
/** The most requirements that are named for a cause. */
const IDS_MAX = 20;
/** The most characters of a command that a page shows. */
const COMMAND_LENGTH_MAX = 2_000;

/** Renders a report that is attached to an agent: its verdict, and what did not pass. */
export function renderReportPage(
  { agent, report: found }: { agent: StoredAgent; report: AgentReport & { report: object } },
  { hasCharts }: { hasCharts: boolean },
  context: PageContext,
): string {
  const { kind, summary, atMs, id, report } = toVisible(found);
  const title = `${reportKindNames[kind]}: ${summary.verdict.toLowerCase()}`;
  const agentPath = `/agents/${agent.id}`;
  return renderServicePage(
    {
      title: `${title} (${agent.name})`,
      section: 'Agents',
      css: CSS,
      main: html`<p><a href="${linkTo(context, agentPath)}">${agent.name}</a></p>
        <h1>${reportKindNames[kind]} ${renderVerdict(summary.standing, summary.verdict)}</h1>
        <p>${summary.detail}</p>
        <p class="soft">
          ${summary.target}, ended ${formatInstant(summary.endedAt)}, attached
          ${formatInstant(isoTime(atMs))}, sandbox-kit ${summary.kitVersion}.
          <a href="${linkTo(context, `${agentPath}/reports/${id}/json`)}">JSON</a>
        </p>
        ${
          kind === 'load' &&
          hasCharts &&
          html`<p>
            <a href="${linkTo(context, `${agentPath}/reports/${id}/charts`)}"
              >Response times, rate, and errors as charts</a
            >
          </p>`
        }
        ${renderBody(kind, report, context)}`,
    },
    context,
  );
}

function renderBody(kind: AgentReport['kind'], report: object, context: PageContext): Html {
  if (kind === 'check') return renderCheck(report as CheckReport, context);
  if (kind === 'load') return renderLoad(report as LoadReport);
  return renderConnection(report as ConnectionReport);
}

function renderConnection({ blockedBy, remark, requests }: ConnectionReport): Html {
  return html`${blockedBy && html`<p class="remark">${renderAdvice(blockedBy.cure)}</p>`}
  ${remark !== undefined && html`<p>${remark}</p>`}
  ${renderFirstRows('Requests', requests, [
    { name: 'request', content: ({ request }) => html`<code>${request}</code>` },
    { name: 'outcome', content: ({ outcome }) => outcome },
    { name: 'time', isNumber: true, content: ({ tookMs }) => formatDuration(tookMs) },
  ])}`;
}

function renderCheck(report: CheckReport, context: PageContext): Html {
  const { blockedBy, causes, requirements, waived, notices = [] } = report;
  const open = requirements.filter(
    ({ verdict, accepted }) => ['fail', 'warn'].includes(verdict) && accepted === undefined,
  );
  return html`${blockedBy && html`<p class="remark">${renderAdvice(findCure(blockedBy))}</p>`}
    ${renderFirst([...waived, ...notices], (notice) => html`<p class="remark">${renderAdvice(notice)}</p>`)}
    ${
      causes.length !== 0 &&
      html`<h2>Fix first</h2>
        <ul>
          ${causes.slice(0, ROWS_MAX).map((cause) => renderCause(cause, context))}
        </ul>
        ${renderRest(causes.length - ROWS_MAX)}`
    }
    ${
      open.length !== 0 &&
      html`<h2>${formatCount(open.length, 'requirement')} to look at</h2>
        ${renderFirst(open, (row) => renderRequirement(row, context))}`
    }
    <h2>All requirements</h2>
    ${[...Map.groupBy(requirements, ({ verdict }) => verdict)].map(
      ([verdict, rows]) =>
        html`<details>
          <summary>${rows.length} ${verdict.replaceAll('_', ' ')}</summary>
          <ul>
            ${rows.slice(0, REQUIREMENTS_MAX).map(({ id, rule }) => html`<li><b>${id}</b> ${withCode(rule)}</li>`)}
          </ul>
          ${renderRest(rows.length - REQUIREMENTS_MAX)}
        </details>`,
    )}`;
}

function renderCause(
  { description, clears, example }: CheckReport['causes'][number],
  context: PageContext,
): Html {
  return html`<li>
    ${withCode(description)}: clears ${withRequirementLinks(formatList(clears, IDS_MAX), context)}.
    ${
      example &&
      html`<p class="soft">
        ${example.requirement}: expected ${withCode(example.expected)}, received
        ${withCode(example.received)}.
      </p>`
    }
  </li>`;
}

function renderRequirement(row: CheckReport['requirements'][number], context: PageContext): Html {
  const { id, level, section, verdict, rule, expected, received, pointer, hint, curl } = row;
  return html`<div class="finding" id="${id}">
    <p>
      ${renderVerdict(verdict)} <b>${linkToRequirement(id, context)}</b>
      <span class="soft">${level}, spec ${section}</span>
    </p>
    <p>${withCode(rule)}</p>
    ${
      expected !== undefined &&
      html`<p>
        Expected ${withCode(expected)}, received
        ${withCode(received ?? 'nothing')}${pointer ? html` at <code>${pointer}</code>` : ''}.
      </p>`
    }
    ${hint !== undefined && html`<p>${renderAdvice(hint)}</p>`}
    ${
      curl !== undefined &&
      html`<details>
        <summary>Repeat the request</summary>
        <pre>${cutText(curl, COMMAND_LENGTH_MAX)}</pre>
      </details>`
    }
  </div>`;
}

function renderLoad({ blockedBy, aborted, targets, notes }: LoadReport): Html {
  return html`${blockedBy && html`<p class="remark">${renderAdvice(findCure(blockedBy))}</p>`}
    ${aborted !== undefined && html`<p class="remark">${aborted}</p>`}
    <h2>Targets</h2>
    ${renderFirstRows('Targets', targets, [
      ...targetColumns,
      { name: 'why', content: ({ reason }) => reason },
    ])}
    ${renderFirst(notes, (note) => html`<p class="soft">${note}</p>`)}`;
}

function renderFirstRows<Item>(
  label: string,
  items: readonly Item[],
  columns: readonly ItemColumn<Item>[],
): Html {
  return html`${renderItems({ label, items: items.slice(0, ROWS_MAX), columns })}
  ${renderRest(items.length - ROWS_MAX)}`;
}

/** Renders the first items of a list, and counts the others. */
const renderFirst = <Item>(items: readonly Item[], render: (item: Item) => Html): Html =>
  html`${items.slice(0, ROWS_MAX).map(render)} ${renderRest(items.length - ROWS_MAX)}`;

const renderRest = (count: number): Html | undefined =>
  count > 0
    ? html`<p class="soft">
        ${formatNumber(count)} more ${count === 1 ? 'is' : 'are'} in the JSON.
      </p>`
    : undefined;

const CSS = `
.finding { border-top: 1px solid var(--line); padding: 0.6rem 0; }
main li { margin: 0.2rem 0; }
`;
