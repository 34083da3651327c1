import { cutText, formatCount } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { Session, SessionKind } from '../../store/store.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';
import { makeTagQuery } from './session-filter.ts';

/** A tag of a conversation, or an entry of the metadata of a session. */
export interface ShownTag {
  key: string;
  value: string;
}

const TAG_CHARS_MAX = 300;
const TAGS_MAX = 100;

/**
 * Renders tags under a heading; nothing if there are no tags. Those that only describe the SDK and the process
 * are folded.
 */
export function renderTags(
  tags: readonly ShownTag[],
  render: (tag: ShownTag) => Html,
): Html | undefined {
  if (tags.length === 0) return undefined;
  const own = tags.filter((tag) => !isSdkTag(tag));
  const ofSdk = tags.filter(isSdkTag);
  return html`<h2>Tags</h2>
    ${own.length > 0 && html`<p>${own.slice(0, TAGS_MAX).map(render)}</p>`}
    ${
      ofSdk.length > 0 &&
      html`<details>
        <summary>${formatCount(ofSdk.length, 'tag')} of the SDK and the process</summary>
        <p>${ofSdk.slice(0, TAGS_MAX).map(render)}</p>
      </details>`
    }`;
}

/** Returns whether an SDK adds a tag to all spans, regardless of the conversation. */
export const isSdkTag = ({ key }: ShownTag): boolean =>
  /^(?:telemetry|otel|process|os|host|container|k8s)\./.test(key);

/** Renders a tag as `key = value`. */
export const renderTag = ({ key, value }: ShownTag): Html =>
  html`<code class="tag">${key} = ${cutText(value, TAG_CHARS_MAX)}</code>`;

/** Renders a tag as a link to the sessions that have it, if the filter can express it. */
export function renderTagLink(tag: ShownTag, kind: SessionKind, context: PageContext): Html {
  const query = makeTagQuery(tag);
  return query === undefined
    ? renderTag(tag)
    : html`<a href="${linkTo(context, '/sessions', { kind, tag: query })}">${renderTag(tag)}</a>`;
}

/** Returns whether a tag is probably text of the conversation, which lists leave out. */
export const isMessageTag = ({ key }: ShownTag): boolean =>
  /^llm\.(?:input|output)_messages\b|\.messages$|\.content$/.test(key);

/** Returns the metadata of a session as tags. */
export function listMetadata({ metadata = {} }: Session): ShownTag[] {
  return Object.entries(metadata).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}
