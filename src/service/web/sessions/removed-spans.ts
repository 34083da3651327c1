import { isoTime } from '../../../platform/clock.ts';
import { formatInstant } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { Conversation } from '../../store/store.ts';

/** Renders why a conversation has no transcript anymore; nothing if its spans were not removed. */
export function renderRemovedSpans(removed: Conversation['spansRemoved']): Html | undefined {
  if (!removed) return undefined;
  const { atMs, afterDays } = removed;
  return html`<div class="remark">
    <p>
      The spans of this conversation were removed on ${formatInstant(isoTime(atMs))}, ${afterDays}
      days after it began, because the service keeps spans for a limited time (<code
        >serve --retention</code
      >). Its results are kept.
    </p>
  </div>`;
}
