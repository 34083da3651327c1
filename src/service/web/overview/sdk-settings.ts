import { html, type Html } from '../../../report-kit/html.ts';
import type { SdkSettings } from '../../domain/sdk-settings.ts';
import type { IngestLogEntry } from '../../store/store.ts';

/**
 * Renders what SDKs and instrumentations need so that the service can read their traces. Those that
 * sent something unreadable come first, and are open.
 */
export function renderSdkSettings(
  all: readonly SdkSettings[],
  log: readonly Pick<IngestLogEntry, 'message'>[],
): Html {
  const messages = [...new Set(log.map(({ message }) => message))];
  const isSeen = ({ name }: SdkSettings): boolean =>
    messages.some((message) => message.includes(` of ${name}. `));
  const [others, seen] = [all.filter((each) => !isSeen(each)), all.filter(isSeen)];
  return html`<p>
      Some SDKs and instrumentations need further settings, so that the service can read their
      spans:
    </p>
    ${seen.map((settings) => renderSettings(settings, true))}
    ${others.map((settings) => renderSettings(settings, false))}`;
}

const renderSettings = ({ name, texts }: SdkSettings, isSeen: boolean): Html =>
  html`<details ${isSeen ? 'open' : ''}>
    <summary>${name}${isSeen ? ': sent traces that the service can’t read' : ''}</summary>
    ${texts.map((text) => html`<p>${text}</p>`)}
  </details>`;
