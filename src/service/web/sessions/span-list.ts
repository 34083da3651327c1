import { cutText, formatCount, formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { numberColumn, renderTable } from '../../../report-kit/table.ts';
import type { StoredSpan } from '../../store/store.ts';

/** The most spans to show. */
const SPANS_MAX = 200;
/** The most characters of the attributes of one span, and of all of them. */
const RAW_LENGTH_MAX = 4_000;
const RAW_LENGTHS_MAX = 60_000;

/** Renders the spans of a conversation as a table with a bar for the time of each. */
export function renderSpans(spans: readonly StoredSpan[]): Html | undefined {
  if (spans.length === 0) return undefined;
  const inOrder = [...spans].sort((left, right) => Number(left.startNs - right.startNs));
  const shown = inOrder.slice(0, SPANS_MAX);
  const startNs = shown[0]?.startNs ?? 0n;
  const endNs = shown.reduce((last, { endNs: end }) => (end > last ? end : last), startNs);
  const lengthMs = Math.max(1, msBetween(startNs, endNs));
  const rawLengthMax = Math.min(RAW_LENGTH_MAX, Math.floor(RAW_LENGTHS_MAX / shown.length));
  const layout = { startNs, lengthMs, rawLengthMax };
  const omitted = inOrder.length - shown.length;
  return html`<h2>Spans</h2>
    ${renderTable({
      label: 'Spans',
      columns: ['span', numberColumn('start'), numberColumn('duration'), 'time'],
      rows: shown.map((span) => renderSpan(span, layout)),
    })}
    ${omitted !== 0 && html`<p class="soft">${formatCount(omitted, 'more span')} not shown.</p>`}`;
}

function renderSpan(
  span: StoredSpan,
  { startNs, lengthMs, rawLengthMax }: { startNs: bigint; lengthMs: number; rawLengthMax: number },
): Html {
  const fromMs = msBetween(startNs, span.startNs);
  const durationMs = msBetween(span.startNs, span.endNs);
  const x = Math.round((fromMs / lengthMs) * 1000);
  const width = Math.max(4, Math.round((durationMs / lengthMs) * 1000));
  const marks = [...(span.failed ? ['failed'] : []), ...(span.late ? ['late, not scored'] : [])];
  return html`<tr>
    <td>
      <details>
        <summary>
          ${span.operation} <span class="soft">${span.name}</span>
          ${marks.map((mark) => html`<span class="fail">${mark}</span>`)}
        </summary>
        <pre>${describe(span, rawLengthMax)}</pre>
      </details>
    </td>
    <td class="number">${formatDuration(fromMs)}</td>
    <td class="number">${formatDuration(durationMs)}</td>
    <td class="time">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        <rect
          class="${span.failed ? 'failing' : 'bar'}"
          x="${Math.min(x, 996)}"
          width="${width}"
          height="10"
        ></rect>
      </svg>
    </td>
  </tr>`;
}

/** Returns the ids and attributes of a span as JSON, cut if they are long. */
function describe(span: StoredSpan, lengthMax: number): string {
  const { traceId, spanId, parentSpanId, inputMessages, outputMessages, attributes } = span;
  const parts = { traceId, spanId, parentSpanId, inputMessages, outputMessages, attributes };
  const text = JSON.stringify(parts, null, 2);
  return cutText(text, lengthMax);
}

const msBetween = (from: bigint, until: bigint): number => Number(until - from) / 1e6;
