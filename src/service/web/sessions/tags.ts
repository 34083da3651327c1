import { cutText } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { Session } from '../../store/store.ts';

/** A tag of a conversation, or an entry of the metadata of a session. */
export interface ShownTag {
  key: string;
  value: string;
}

const TAG_CHARS_MAX = 300;

/** Renders a tag as `key = value`. */
export const renderTag = ({ key, value }: ShownTag): Html =>
  html`<code class="tag">${key} = ${cutText(value, TAG_CHARS_MAX)}</code>`;

/** Returns the metadata of a session as tags. */
export function listMetadata({ metadata = {} }: Session): ShownTag[] {
  return Object.entries(metadata).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}
