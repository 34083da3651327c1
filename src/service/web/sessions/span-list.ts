import { cutText, formatCount, formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import type { StoredSpan } from '../../store/store.ts';

/** The most spans to show. */
export const SPANS_MAX = 200;
/** The most characters of the attributes of one span, and of all of them. */
const RAW_LENGTH_MAX = 4_000;
const RAW_LENGTHS_MAX = 60_000;

/**
 * Renders the first spans of a conversation, up to `SPANS_MAX`, as a table with a bar for the time of each.
 * @param total The number of all spans.
 */
export function renderSpans(shown: readonly StoredSpan[], total: number): Html | undefined {
  if (shown.length === 0) return undefined;
  const startNs = shown[0]?.startNs ?? 0n;
  const endNs = shown.reduce((last, { endNs: end }) => (end > last ? end : last), startNs);
  const lengthMs = Math.max(1, msBetweenNs(startNs, endNs));
  const rawLengthMax = Math.min(RAW_LENGTH_MAX, Math.floor(RAW_LENGTHS_MAX / shown.length));
  const omitted = Math.max(0, total - shown.length);
  return html`<h2>Spans</h2>
    ${renderItems({
      label: 'Spans',
      items: shown,
      columns: [
        { name: 'span', content: (span) => renderSpan(span, rawLengthMax) },
        {
          name: 'start',
          isNumber: true,
          content: (span) => formatDuration(msBetweenNs(startNs, span.startNs)),
        },
        { name: 'duration', isNumber: true, content: (span) => formatDuration(durationOf(span)) },
        {
          name: 'time',
          className: 'time',
          content: (span) => renderTime(span, { startNs, lengthMs }),
        },
      ],
    })}
    ${omitted !== 0 && html`<p class="soft">${formatCount(omitted, 'more span')} not shown.</p>`}`;
}

function renderSpan(span: StoredSpan, rawLengthMax: number): Html {
  const marks = [...(span.failed ? ['failed'] : []), ...(span.late ? ['late, not scored'] : [])];
  return html`<details>
    <summary>
      ${span.operation} <span class="soft">${span.name}</span>
      ${marks.map((mark) => html`<span class="fail">${mark}</span>`)}
    </summary>
    <pre>${describe(span, rawLengthMax)}</pre>
  </details>`;
}

/** Renders a bar for the time of a span. */
function renderTime(
  span: StoredSpan,
  { startNs, lengthMs }: { startNs: bigint; lengthMs: number },
): Html {
  const x = Math.round((msBetweenNs(startNs, span.startNs) / lengthMs) * 1000);
  const width = Math.max(4, Math.round((durationOf(span) / lengthMs) * 1000));
  return html`<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
    <rect
      class="${span.failed ? 'failing' : 'bar'}"
      x="${Math.min(x, 996)}"
      width="${width}"
      height="10"
    ></rect>
  </svg>`;
}

/** Returns the ids and attributes of a span as JSON, cut if they are long. */
function describe(span: StoredSpan, lengthMax: number): string {
  const { traceId, spanId, parentSpanId, inputMessages, outputMessages, attributes } = span;
  const cut = (text: string | undefined): string | undefined =>
    // Before the whole is cut, because messages can have megabytes.
    text === undefined ? undefined : cutText(text, lengthMax);
  const messages = { inputMessages: cut(inputMessages), outputMessages: cut(outputMessages) };
  const parts = { traceId, spanId, parentSpanId, ...messages, attributes };
  const text = JSON.stringify(parts, null, 2);
  return cutText(text, lengthMax);
}

const msBetweenNs = (from: bigint, until: bigint): number => Number(until - from) / 1e6;

const durationOf = ({ startNs, endNs }: StoredSpan): number => msBetweenNs(startNs, endNs);
